"""Backtests of files of curves, with labels as JSON."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from herorun import discover
from herorun.core.backtest.curve import CurveBacktest, FiredAlert, judging
from herorun.core.backtest.score import Label, Score
from herorun.core.check import Gate
from herorun.core.detectors.names import Names
from herorun.core.errors import WrongUse
from herorun.core.evidence import UnjudgedMetric
from herorun.core.lazy_dataclass import dataclass
from herorun.core.ports import Row
from herorun.core.untrusted_json import read_json
from herorun.operations.report.curve_file import (
    chunks_of,
    columns_of,
    names_of,
    rows_of,
    why_no_curve,
)
from herorun.system import progress

OURS = "herorun"
Alarms = Callable[[Iterator[Row]], list[FiredAlert]]  # the alerts of a set of rules on a curve
NO_OTHERS: Mapping[str, Alarms] = {}


@dataclass
class BacktestReport:
    """The results by file, and over all files."""

    # file, rows, alerts
    files: list[tuple[str, int, list[FiredAlert]]] = field(default_factory=list)
    scores: dict[str, Score] = field(default_factory=dict)  # by name of the rules; or empty
    # of several files, why some are not curves
    skipped: list[str] = field(default_factory=list)
    unjudged: list[str] = field(default_factory=list)  # files whose silence means nothing: why
    silent: set[str] = field(default_factory=set)  # the names of these files
    # by file, what some checks could not judge
    partly_judged: dict[str, tuple[UnjudgedMetric, ...]] = field(default_factory=dict)


def backtest(
    paths: list[Path], labels: Mapping[str, Label] | None, others: Mapping[str, Alarms] = NO_OTHERS
) -> BacktestReport:
    """Run our checks over every file; with labels also the rules of `others`."""
    report, checks = BacktestReport(), judging(discover.checks(Gate.HEALTH))
    names = [OURS, *others] if labels is not None else []
    report.scores = {name: Score() for name in names}
    for number, path in enumerate(paths):
        if len(paths) > 1:  # of a single file, reading its rows takes the time
            progress.progress("judging curves", number, len(paths))
        if len(paths) > 1 and (why := why_no_curve(path)):
            report.skipped.append(why)
            continue
        steps: list[int] = []
        label = labels.get(path.name) if labels is not None else None
        metric_names = names_of(columns_of(path))
        if metric_names is None:
            report.silent.add(str(path))
            report.unjudged.append(
                f"{path} has no column that a rule knows, such as loss or grad_norm"
            )
        run = CurveBacktest(checks=checks, names=metric_names or Names(first_step=1, loss=()))
        chunks = chunks_of(path)
        alerts = run.run_chunks(_recording_steps(chunks, steps) if label else chunks)
        report.files.append((str(path), run.rows, alerts))
        report.partly_judged[str(path)] = run.unjudged()
        if not run.rows and metric_names is not None:
            report.silent.add(str(path))
            report.unjudged.append(f"{path} has no rows")
        # a curve in which nothing can be judged does not count as free of alarms
        if label is not None and (metric_names is not None or label.events or label.time_events):
            report.scores[OURS].add(path.name, label, steps, alerts)
            for name, alarms in others.items():
                report.scores[name].add(path.name, label, steps, alarms(rows_of(path)))
    progress.progress("judging curves", 1, 1)
    return report


def _recording_steps(chunks: Iterator[Sequence[Row]], steps: list[int]) -> Iterator[Sequence[Row]]:
    for chunk in chunks:
        steps.extend(row.step for row in chunk)
        yield chunk


def read_labels(path: Path) -> dict[str, Label]:
    """The labels by file name."""
    try:
        document = read_json(path.read_text(encoding="utf-8"))
        return {name: _label(entry) for name, entry in document.items()}
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
        raise WrongUse(f"{path} is not a file of labels: {error!r}.") from None


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
