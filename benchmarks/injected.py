"""The power of the detectors: events put into clean curves, and what is raised on the curves alone.

`python -m benchmarks.injected FOLDER ...`: up to three clean curves of each source in folders with
LABELS.json, in full and thinned; in each the event begins at several rows. An event multiplies the
loss and keeps its noise; the other columns stay as they are. An event is found by a critical alert.
`--json=FILE` writes every outcome.
"""

import json
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from copy import copy
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from herorun import discover
from herorun.core.backtest.curve import CurveBacktest, judging
from herorun.core.backtest.score import CURVE
from herorun.core.check import Gate
from herorun.core.ports import Row
from herorun.operations.report.backtest import read_labels
from herorun.operations.report.curve_file import columns_of, names_of, rows_of

OF_A_SOURCE = 3  # curves
BEGINNINGS = (6, 12, 20, 35, 60, 120, 400)  # rows before the event
THINNINGS = (1, 5, 20)  # every so many-th row
SOON, LATER = 12, 50  # rows in which it should be found
EARLIER = 30  # rows before the event at which another one began ...
LASTING_ROWS = 5  # ... for so many rows
WORKERS = 2

Factor = Callable[[int], float]  # of the loss, by rows since the event began
EVENTS: Mapping[str, Factor] = {
    "1.3 times for good": lambda row: 1.3,
    "1.5 times for good": lambda row: 1.5,
    "2 times for good": lambda row: 2.0,
    "3 times for good": lambda row: 3.0,
    "10 times for good": lambda row: 10.0,
    "3 times for 1 row": lambda row: 3.0 if row < 1 else 1.0,
    "3 times for 2 rows": lambda row: 3.0 if row < 2 else 1.0,
    "3 times for 5 rows": lambda row: 3.0 if row < 5 else 1.0,
    "3 times for 20 rows": lambda row: 3.0 if row < 20 else 1.0,
    "+ 1 % a row": lambda row: 1.01**row,
    "+ 3 % a row": lambda row: 1.03**row,
    "nan": lambda row: math.nan,
}
AFTER_A_SPIKE = ("1.5 times for good", "2 times for good", "3 times for good")


class Outcome(NamedTuple):
    """Of one event in one curve."""

    source: str
    every: int
    beginning: int
    event: str
    delay: int | None  # rows until the first critical alert
    warning: int | None  # the same of any alert
    check: str
    false: int  # critical alerts on the rows before the event


class Task(NamedTuple):
    path: Path
    every: int


def tasks(folders: Sequence[Path]) -> Iterator[Task]:
    for folder in folders:
        of_sources = defaultdict(list)
        for name, label in sorted(read_labels(folder / "LABELS.json").items()):
            if label.label == "clean" and names_of(columns_of(folder / name)):
                of_sources[name.partition("__")[0]].append(folder / name)
        for paths in of_sources.values():
            stride = max(len(paths) // OF_A_SOURCE, 1)
            for path in paths[::stride][:OF_A_SOURCE]:
                yield from (Task(path, every) for every in THINNINGS)


def outcomes(task: Task) -> list[Outcome]:
    names = names_of(columns_of(task.path))
    assert names is not None
    last = BEGINNINGS[-1] + LATER
    rows = list(islice(rows_of(task.path), 0, last * task.every, task.every))
    loss = next((n for n in names.loss if rows and n in rows[0].values), None)
    if loss is None or any(row.values.get(loss, 1.0) <= 0.0 for row in rows):
        return []
    backtest = CurveBacktest(checks=judging(discover.checks(Gate.HEALTH)), names=names)
    results: list[Outcome] = []
    start_row = 0
    for beginning in BEGINNINGS:
        if beginning + SOON >= len(rows):
            break
        if beginning > EARLIER + LASTING_ROWS:
            start = beginning - EARLIER
            backtest.run(rows[start_row:start])
            spike_rows = _change_rows(
                rows[start:beginning], loss, lambda row: 3.0 if row < LASTING_ROWS else 1.0
            )
            before = _copy_backtest(backtest)
            before.run(spike_rows)
            results += [
                _outcome(before, task, rows, beginning, event, loss, " after a spike")
                for event in AFTER_A_SPIKE
            ]
            start_row = start
        backtest.run(rows[start_row:beginning])
        start_row = beginning
        results += [_outcome(backtest, task, rows, beginning, event, loss) for event in EVENTS]
    backtest.run(rows[start_row:])
    return [each._replace(false=len(_criticals(backtest))) for each in results]


def _outcome(
    before: CurveBacktest,
    task: Task,
    rows: Sequence[Row],
    beginning: int,
    event: str,
    loss: str,
    history: str = "",
) -> Outcome:
    run = _copy_backtest(before)
    run.run(_change_rows(rows[beginning : beginning + LATER], loss, EVENTS[event]))
    alerts = [a for a in run.alerts if a.row >= beginning and a.topic in CURVE]
    criticals = [a for a in alerts if a.severity == "critical"]
    return Outcome(
        source=task.path.name,
        every=task.every,
        beginning=beginning,
        event=event + history,
        delay=min((a.row - beginning for a in criticals), default=None),
        warning=min((a.row - beginning for a in alerts if a.severity != "info"), default=None),
        check=criticals[0].check if criticals else "",
        false=0,
    )


def _copy_backtest(run: CurveBacktest) -> CurveBacktest:
    """One that goes on from the same rows, which replace its state and never change it."""
    new = copy(run)
    new.alerts = [replace(alert) for alert in run.alerts]
    new._firing = {key: replace(alert) for key, alert in run._firing.items()}
    new._muted, new._closed_keys = set(run._muted), set(run._closed_keys)
    return new


def _change_rows(rows: Sequence[Row], loss: str, factor: Factor) -> list[Row]:
    return [
        Row(row.step, {**row.values, loss: row.values[loss] * factor(place)}, row.at)
        if loss in row.values
        else row
        for place, row in enumerate(rows)
    ]


def _criticals(run: CurveBacktest) -> list[object]:
    return [a for a in run.alerts if a.topic in CURVE and a.severity == "critical"]


def table(results: Sequence[Outcome], column: Callable[[Outcome], int]) -> Iterator[str]:
    """Per cent found within few and within many rows, by event and another property."""
    columns = sorted({column(each) for each in results})
    yield f"| event | {' | '.join(str(each) for each in columns)} |"
    yield f"| --- |{' --- |' * len(columns)}"
    for event in dict.fromkeys(each.event for each in results):
        cells = []
        for value in columns:
            of = [r for r in results if r.event == event and column(r) == value]
            soon = sum(r.delay is not None and r.delay < SOON for r in of)
            later = sum(r.delay is not None for r in of)
            cells.append(f"{100 * soon / len(of):.0f}, {100 * later / len(of):.0f}" if of else "-")
        yield f"| {event} | {' | '.join(cells)} |"


def main(argv: Sequence[str]) -> None:
    folders = [Path(each) for each in argv if not each.startswith("--")]
    results = []
    with ProcessPoolExecutor(WORKERS) as pool:
        for part in pool.map(outcomes, list(tasks(folders))):
            results += part
    runs = {(each.source, each.every): each.false for each in results}
    print(
        f"{len(runs)} curves at {len(THINNINGS)} row rates, {len(results)} events; false "
        f"criticals on the curves alone: {sum(runs.values())}; found within {SOON}, and within "
        f"{LATER} rows:\n"
    )
    print("\n".join(table(results, lambda each: each.beginning)), end="\n\n")
    print("\n".join(table(results, lambda each: each.every)))
    for each in argv:
        if each.startswith("--json="):
            Path(each.removeprefix("--json=")).write_text(json.dumps([*map(list, results)]))


if __name__ == "__main__":
    main(sys.argv[1:])
