"""Backtests of files: curves as CSV, or as the tracker `jsonl` reads them, labels as JSON."""

import csv
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from herorun import adapters, discover
from herorun.core.backtest.curve import CurveBacktest, FiredAlert, judging
from herorun.core.backtest.score import Label, Score
from herorun.core.check import Gate
from herorun.core.detectors import Names
from herorun.core.detectors.names import LOSSES
from herorun.core.errors import WrongUse
from herorun.core.lazy_dataclass import dataclass
from herorun.core.ports import Place, Row, Tracker
from herorun.core.untrusted_json import read_json
from herorun.system import progress

OURS = "herorun"
SAID_EVERY = 20_000  # rows
Alarms = Callable[[Iterator[Row]], list[FiredAlert]]  # where a rule fires on a curve
NO_OTHERS: Mapping[str, Alarms] = {}


@dataclass
class BacktestReport:
    """What one file gave, and all of them."""

    # file, rows, alerts
    files: list[tuple[str, int, list[FiredAlert]]] = field(default_factory=list)
    scores: dict[str, Score] = field(default_factory=dict)  # by whose rules; empty without labels
    # among several files, those that are no curves: why
    skipped: list[str] = field(default_factory=list)
    unjudged: list[str] = field(default_factory=list)  # of which no alert means nothing: why


def backtest(
    paths: list[Path], labels: Mapping[str, Label] | None, others: Mapping[str, Alarms] = NO_OTHERS
) -> BacktestReport:
    """Every file through our checks; with labels also through the rules of `others`."""
    report, checks = BacktestReport(), judging(discover.checks(Gate.HEALTH))
    names = [OURS, *others] if labels is not None else []
    report.scores = {name: Score() for name in names}
    for number, path in enumerate(paths):
        if len(paths) > 1:  # of one, its rows are what lasts
            progress.progress("judging curves", number, len(paths))
        if len(paths) > 1 and (why := _no_curve(path)):
            report.skipped.append(why)
            continue
        steps: list[int] = []
        label = labels.get(path.name) if labels is not None else None
        metric_names = names_of(columns_of(path))
        if metric_names is None:
            report.unjudged.append(
                f"{path} has no column that a rule knows, such as loss or grad_norm"
            )
        run = CurveBacktest(checks, metric_names or Names(first_step=1, loss=()))
        alerts = run.run(_noting(rows_of(path), steps) if label else rows_of(path))
        report.files.append((str(path), run.rows, alerts))
        if label is not None:
            report.scores[OURS].add(path.name, label, steps, alerts)
            for name, alarms in others.items():
                report.scores[name].add(path.name, label, steps, alarms(rows_of(path)))
    progress.progress("judging curves", 1, 1)
    return report


def _no_curve(path: Path) -> str:
    """Why a file among others is none; empty where it is one."""
    try:
        return "" if "step" in columns_of(path) else f"{path} has no column called step"
    except WrongUse as why:
        return str(why).rstrip(".")


def _noting(rows: Iterator[Row], steps: list[int]) -> Iterator[Row]:
    for row in rows:
        steps.append(row.step)
        yield row


def names_of(columns: Sequence[str]) -> Names | None:
    """Which column is which; None where no rule judges any of them. Messages name the steps as the
    file counts them.
    """
    names = Names(first_step=1, loss=LOSSES if any(n in LOSSES for n in columns) else ())
    return names if any(name in names.loss or names.roles[name] for name in columns) else None


def columns_of(path: Path) -> list[str]:
    if _is_json_lines(path):
        return ["step", *dict.fromkeys(name for row in _logged(path) for name in row.values)]
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        return [name.strip() for name in next(csv.reader(file), [])]


def rows_of(path: Path) -> Iterator[Row]:
    """The rows of a CSV file with a `step` column. An empty cell is no value; `nan` and `inf` stay
    what they are.
    """
    if _is_json_lines(path):
        yield from _logged(path)
        return
    try:
        with path.open("rb") as file:
            reader = csv.reader(TextIOWrapper(file, newline="", encoding="utf-8-sig"))
            header = [name.strip() for name in next(reader, [])]
            if "step" not in header:
                raise WrongUse(
                    f"{path} has no column called step: its first line is "
                    f"{','.join(header)[:80]!r}."
                )
            size, activity = path.stat().st_size, f"reading {path.name}"
            for number, row in enumerate(_read_csv_rows(path, header, reader)):
                if number % SAID_EVERY == 0:
                    progress.progress(activity, min(file.tell(), size - 1), size)
                yield row
            progress.progress(activity, 1, 1)
    except (UnicodeDecodeError, csv.Error) as error:
        raise WrongUse(f"{path} cannot be read as CSV: {error}.") from None


def _is_json_lines(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(64).lstrip().startswith(b"{")


def _logged(path: Path) -> Iterator[Row]:
    """JSON lines, as the tracker `jsonl` reads a run's; `WrongUse` names the first line that is no
    row.
    """
    folder, whole = str(path.parent), str(path.absolute())
    tracker: Tracker = adapters.connect(
        "trackers", "jsonl", {"path": whole}, Place("curve", folder, folder, folder)
    )
    cursor, read = "", tracker.read("")
    if not read.rows:
        raise WrongUse(
            f"{path} has no JSON line with a step: "
            f"{'; '.join(read.problems[:1]) or 'it has no complete line'}."
        )
    while read.rows or read.cursor != cursor:
        if read.problems:
            raise WrongUse(f"{read.problems[0]} in a file of JSON lines.")
        yield from read.rows
        cursor = read.cursor
        read = tracker.read(cursor)


def _read_csv_rows(path: Path, header: list[str], reader: Iterator[list[str]]) -> Iterator[Row]:
    place, clock = header.index("step"), header.index("timestamp") if "timestamp" in header else -1
    places = [i for i in range(len(header)) if i not in (place, clock)]
    names = [header[i] for i in places]
    for number, cells in enumerate(reader, 2):
        if not cells:
            continue
        try:
            texts = [cells[i] for i in places]
            if "" in texts:
                cells_there = [(n, text) for n, text in zip(names, texts, strict=True) if text]
                values = {name: float(text) for name, text in cells_there}
            else:
                values = dict(zip(names, map(float, texts), strict=True))
            step = int(float(cells[place]))
        except (ValueError, IndexError, OverflowError):
            raise WrongUse(
                f"{path}:{number}: {','.join(cells)[:80]!r} is not a row of numbers."
            ) from None
        yield Row(step, values, _parse_time(cells[clock]) if clock >= 0 else None)


def _parse_time(text: str) -> datetime | None:
    """Seconds or milliseconds since some beginning, or a date and time; None where it is
    neither.
    """
    try:
        seconds = float(text)
    except ValueError:
        return _date(text)
    if not math.isfinite(seconds):
        return None
    seconds = seconds / 1000 if seconds > 1e11 else seconds
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def _date(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.replace(",", "."))
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def read_labels(path: Path) -> dict[str, Label]:
    """Labels by file name."""
    try:
        document = read_json(path.read_text(encoding="utf-8"))
        return {name: _label(entry) for name, entry in document.items()}
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise WrongUse(f"{path} is no file of labels: {error!r}.") from None


def _label(entry: Mapping[str, Any]) -> Label:
    return Label(
        entry.get("label", ""),
        _events(entry.get("events", ())),
        entry.get("time_label", ""),
        _events(entry.get("time_events", ())),
    )


def _events(events: Any) -> tuple[tuple[int, int, str], ...]:
    return tuple(
        (int(event[0]), int(event[1]), str(event[2]) if len(event) > 2 else "") for event in events
    )
