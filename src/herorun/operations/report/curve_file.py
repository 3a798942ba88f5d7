"""Curves in files: CSV of any usual dialect, the JSON lines of a run, or a Hugging Face trainer's
`trainer_state.json`.
"""

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path

from herorun import adapters
from herorun.core.detectors import Names
from herorun.core.detectors.names import LOSSES, is_eval
from herorun.core.errors import WrongUse
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import Place, Row, Tracker
from herorun.core.untrusted_json import read_json
from herorun.system import progress

PROGRESS_EVERY = 20_000  # rows
# Steps, as trainers and trackers name them; the first that a header has is taken.
STEPS = (
    "step", "steps", "_step", "global_step", "train/global_step", "trainer/global_step",
    "iteration", "iterations", "iter", "Step", "Iteration",
)  # fmt: skip
CLOCKS = ("timestamp", "_timestamp", "Wall time", "time/timestamp")
# Other names of a training loss, in small letters and with one kind of separator.
OTHER_LOSSES = (
    "train_loss", "training_loss", "loss_train", "loss", "running_loss", "train_loss_step",
    "train_total_loss", "total_loss", "loss_total", "mean_loss", "avg_loss", "loss_avg",
)  # fmt: skip
DELIMITERS = (",", "\t", ";", "|")
NO_VALUES = frozenset(("", "-", "--", "na", "n/a", "none", "null", "<na>"))
FIRST_LINE = 1 << 16  # bytes of it that say how a file separates its cells
TRAINER_STATE = "log_history"

_THOUSANDS = lazy_regex(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")
_SEPARATORS = lazy_regex(r"[^a-z0-9]+")


def names_of(columns: Sequence[str]) -> Names | None:
    """Which column is which; None where no rule judges any of them. Messages name the steps as the
    file counts them.
    """
    losses = LOSSES if any(n in LOSSES for n in columns) else _other_loss(columns)
    names = Names(first_step=1, loss=losses)
    return names if any(name in names.loss or names.roles[name] for name in columns) else None


def _other_loss(columns: Sequence[str]) -> tuple[str, ...]:
    """The training loss under another name: `Loss/train`, or `run 7 - train/loss`, as a tracker
    exports it.
    """
    plain = {_plain(name.rpartition(" - ")[2]): name for name in reversed(columns)}
    return next(((plain[name],) for name in OTHER_LOSSES if name in plain), ())


def _plain(name: str) -> str:
    return _SEPARATORS.sub("_", name.lower()).strip("_")


def why_no_curve(path: Path) -> str:
    """Why a file among others is none; empty where it is one."""
    try:
        columns = columns_of(path)
        return "" if _has_steps(columns) else _without_steps(path, columns)
    except WrongUse as why:
        return str(why).rstrip(".")


def _has_steps(columns: Sequence[str]) -> bool:
    """Whether a column holds them, or there is a loss of which each row can count as one."""
    names = names_of(columns)
    return _step_name(columns) is not None or bool(names and any(n in columns for n in names.loss))


def _without_steps(path: Path, columns: Sequence[str]) -> str:
    first = f"its first line is {','.join(columns)[:80]!r}"
    return f"{path} has no column called step, nor one by another usual name: {first}"


def _step_name(columns: Sequence[str]) -> str | None:
    return next((name for name in STEPS if name in columns), None)


def columns_of(path: Path) -> list[str]:
    if _is_json(path):
        return ["step", *dict.fromkeys(name for row in rows_of(path) for name in row.values)]
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        header = next(csv.reader(file, delimiter=_delimiter(path)), [])
        return [name.strip().lstrip("#").strip() for name in header]


def _delimiter(path: Path) -> str:
    """That which separates most cells of the first line."""
    with path.open("rb") as file:
        first = file.readline(FIRST_LINE).decode("utf-8-sig", "replace")
    return max(DELIMITERS, key=lambda each: len(next(csv.reader([first], delimiter=each), [])))


def rows_of(path: Path) -> Iterator[Row]:
    """The rows of a file, by its step column, or one step each where it has none: an epoch may be a
    fraction, or have many rows. An empty cell is no value; `nan` and `inf` stay what they are.
    `WrongUse` where it is no curve.
    """
    if _is_json(path):
        yield from _trainer_rows(path) if _is_trainer_state(path) else _json_lines(path)
        return
    columns = columns_of(path)
    if not _has_steps(columns):
        raise WrongUse(f"{_without_steps(path, columns)}.")
    try:
        with path.open("rb") as file:
            text = TextIOWrapper(file, newline="", encoding="utf-8-sig")
            reader = csv.reader(text, delimiter=_delimiter(path))
            next(reader, None)
            size, activity = path.stat().st_size, f"reading {path.name}"
            for number, row in enumerate(_csv_rows(path, columns, reader)):
                if number % PROGRESS_EVERY == 0:
                    progress.progress(activity, min(file.tell(), size - 1), size)
                yield row
            progress.progress(activity, 1, 1)
    except (UnicodeDecodeError, csv.Error) as error:
        raise WrongUse(f"{path} cannot be read as CSV: {error}.") from None


def _is_json(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(64).lstrip().startswith(b"{")


def _is_trainer_state(path: Path) -> bool:
    """One document over many lines, where a run logs one a line."""
    with path.open("rb") as file:
        first = file.readline(FIRST_LINE)
    try:
        document = read_json(first.decode("utf-8", "replace"))
    except ValueError:
        return path.suffix == ".json"
    return isinstance(document, Mapping) and TRAINER_STATE in document


def _trainer_rows(path: Path) -> Iterator[Row]:
    """The log of a Hugging Face trainer, as its checkpoints hold it, without its evaluations and
    its last entry, which sums all up.
    """
    try:
        history = json.loads(path.read_text(encoding="utf-8"))[TRAINER_STATE]
        for entry in history:
            values = {
                str(name): float(value)
                for name, value in entry.items()
                if isinstance(value, (int, float)) and name != "step"
            }
            if not any(is_eval(name) or name == "train_runtime" for name in values):
                yield Row(int(entry["step"]), values, None)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        raise WrongUse(
            f"{path} is one JSON document, and no trainer's state with a {TRAINER_STATE!r}."
        ) from None


def _json_lines(path: Path) -> Iterator[Row]:
    """JSON lines, as the tracker `jsonl` reads a run's; `WrongUse` names the first line that is no
    row.
    """
    folder, whole = str(path.parent), str(path.absolute())
    tracker: Tracker = adapters.connect(
        "trackers", "jsonl", {"path": whole}, Place("curve", folder, folder, folder)
    )
    cursor, batch = "", tracker.read("")
    if not batch.rows:
        raise WrongUse(
            f"{path} has no JSON line with a step: "
            f"{'; '.join(batch.problems[:1]) or 'it has no complete line'}."
        )
    while batch.rows or batch.cursor != cursor:
        if batch.problems:
            raise WrongUse(f"{batch.problems[0]} in a file of JSON lines.")
        yield from batch.rows
        cursor = batch.cursor
        batch = tracker.read(cursor)


def _csv_rows(path: Path, header: list[str], reader: Iterator[list[str]]) -> Iterator[Row]:
    step_name = _step_name(header)
    place = header.index(step_name) if step_name is not None else -1
    clock = next((header.index(name) for name in CLOCKS if name in header), -1)
    places = [i for i in range(len(header)) if i not in (place, clock)]
    names = [header[i] for i in places]
    judged = _judged_columns(names)
    for number, cells in enumerate(reader, 2):
        if not cells or not any(cells):
            continue
        try:
            values = dict(zip(names, [float(cells[i]) for i in places], strict=True))
            step = int(float(cells[place])) if place >= 0 else number - 2
        except (ValueError, IndexError, OverflowError):
            row = [cell.strip() for cell in cells]
            if row[: len(header)] == header:
                continue  # of a file that a second run was appended to
            try:
                values = _values_of(names, [row[i] for i in places], judged)
                step = int(_number(row[place])) if place >= 0 else number - 2
            except (ValueError, IndexError, OverflowError):
                raise WrongUse(
                    f"{path}:{number}: {','.join(cells)[:80]!r} is not a row of numbers."
                ) from None
        yield Row(step, values, _parse_time(cells[clock]) if clock >= 0 else None)


def _judged_columns(columns: Sequence[str]) -> frozenset[str]:
    """Those in which a word instead of a number is an error."""
    names = names_of(columns)
    if names is None:
        return frozenset()
    return frozenset(name for name in columns if name in names.loss or names.roles[name])


def _values_of(
    names: Sequence[str], cells: Sequence[str], judged: frozenset[str]
) -> dict[str, float]:
    values: dict[str, float] = {}
    for name, cell in zip(names, cells, strict=True):
        if cell.lower() in NO_VALUES:
            continue
        try:
            values[name] = _number(cell)
        except ValueError:
            if name in judged:
                raise
    return values


def _number(cell: str) -> float:
    """Also with commas between thousands, or one in place of the point."""
    try:
        return float(cell)
    except ValueError:
        if _THOUSANDS.fullmatch(cell):
            return float(cell.replace(",", ""))
        if cell.count(",") == 1 and "." not in cell:
            return float(cell.replace(",", "."))
        raise


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
