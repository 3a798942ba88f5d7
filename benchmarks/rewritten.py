"""The same curves, written differently: what is still found of their events, and what is raised on
the quiet ones.

`python -m benchmarks.rewritten own=FOLDER fresh=FOLDER ...`, over the first rows of each curve in a
folder with LABELS.json. A rule that counts rows, or that knows the scale of a loss, loses here
what it finds at full rate. `--list` names the curves, `--only=TEXT` takes some of the ways.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path

from herorun import discover
from herorun.core.backtest.curve import CurveBacktest, judging
from herorun.core.backtest.score import CURVE, QUIET, SLACK, Label
from herorun.core.check import Gate
from herorun.core.detectors.names import Names
from herorun.core.lazy_statistics import fmean
from herorun.core.ports import Row
from herorun.operations.report.backtest import read_labels
from herorun.operations.report.curve_file import columns_of, names_of, rows_of

ROWS = 1500  # of a curve
WORKERS = 2

Events = tuple[tuple[int, int, str], ...]
Curve = tuple[list[Row], Events, Names]
Way = Callable[[Curve], Curve]


def _every(count: int, curve: Curve) -> Curve:
    rows, events, names = curve
    return rows[::count], _fewer(events, count), names


def _means(count: int, curve: Curve) -> Curve:
    rows, events, names = curve
    groups = [rows[place : place + count] for place in range(0, len(rows), count)]
    events_left = tuple((first // count, last // count, why) for first, last, why in events)
    return [_mean(group) for group in groups], events_left, names


def _mean(rows: Sequence[Row]) -> Row:
    metrics = {name for row in rows for name in row.values}
    values = {
        name: fmean(row.values[name] for row in rows if name in row.values)
        for name in sorted(metrics)
    }
    return Row(rows[-1].step, values, rows[-1].at)


def _fewer(events: Events, count: int) -> Events:
    """Those of which a row is left."""
    shrunk = ((-(-first // count), last // count, why) for first, last, why in events)
    return tuple(event for event in shrunk if event[0] <= event[1])


def _losses(change: Callable[[float], float], curve: Curve) -> Curve:
    rows, events, names = curve

    def change_row(row: Row) -> Mapping[str, float]:
        name = next((name for name in names.loss if name in row.values), None)
        return {**row.values, name: change(row.values[name])} if name else row.values

    return [Row(row.step, change_row(row), row.at) for row in rows], events, names


def _number_rows(stride: int, curve: Curve) -> Curve:
    """Counted by rows, without the gaps and restarts of the record."""
    rows, events, names = curve
    return [Row(n * stride, row.values, row.at) for n, row in enumerate(rows)], events, names


def _begun_late(curve: Curve) -> Curve:
    """Without the first half of the rows before the first event."""
    rows, events, names = curve
    cut = events[0][0] // 2 if events else len(rows) // 4
    return rows[cut:], tuple((first - cut, last - cut, why) for first, last, why in events), names


WAYS: Mapping[str, Way] = {
    "as it is": lambda curve: curve,
    "every 2nd row": partial(_every, 2),
    "every 5th": partial(_every, 5),
    "every 10th": partial(_every, 10),
    "mean of 5": partial(_means, 5),
    "two decimals": partial(_losses, lambda loss: round(loss, 2)),
    "x 0.1": partial(_losses, lambda loss: loss * 0.1),
    "x 10": partial(_losses, lambda loss: loss * 10),
    "+ 3": partial(_losses, lambda loss: loss + 3),
    "1 step a row": partial(_number_rows, 1),
    "100 steps a row": partial(_number_rows, 100),
    "begun late": _begun_late,
}

# way -> events left, found, criticals on quiet curves
Outcome = Mapping[str, tuple[int, int, int]]


def judge_folder(folder: Path, labels: Mapping[str, Label], only: str, name: str) -> Outcome:
    path, label = folder / name, labels[name]
    names = names_of(columns_of(path))
    is_quiet = label.label in QUIET
    if names is None or not (label.events or is_quiet):
        return {}
    checks = judging(discover.checks(Gate.HEALTH))
    rows = list(islice(rows_of(path), ROWS))
    events = tuple(event for event in label.events if event[0] < len(rows))
    outcome = {}
    for way, change in WAYS.items():
        if only not in way:
            continue
        new_rows, new_events, new_names = change((rows, events, names))
        alerts = [
            alert
            for alert in CurveBacktest(checks=checks, names=new_names).run(new_rows)
            if alert.topic in CURVE and alert.severity == "critical"
        ]
        is_hit = any(
            first - SLACK <= alert.row <= last + SLACK
            for first, last, _ in new_events
            for alert in alerts
        )
        outcome[way] = (bool(new_events), is_hit, len(alerts) if is_quiet else 0)
    return outcome


def main(argv: Sequence[str]) -> None:
    lists = "--list" in argv
    only = next((each.removeprefix("--only=") for each in argv if each.startswith("--only=")), "")
    print("| set | way | events found | quiet curves with a critical alert |")
    print("| --- | --- | --- | --- |", flush=True)
    for name, _, folder in (each.partition("=") for each in argv if "=" in each and each[0] != "-"):
        labels = read_labels(Path(folder) / "LABELS.json")
        with ProcessPoolExecutor(WORKERS) as pool:
            order = sorted(labels)
            one = partial(judge_folder, Path(folder), labels, only)
            outcomes = dict(zip(order, pool.map(one, order, chunksize=4), strict=True))
        for way in WAYS:
            counts = [outcome[way] for outcome in outcomes.values() if way in outcome]
            events, hits = sum(c[0] for c in counts), sum(c[1] for c in counts)
            false = sum(c[2] > 0 for c in counts)
            if counts:
                print(f"| {name} | {way} | {hits} of {events} | {false} |", flush=True)
        for curve, outcome in outcomes.items() if lists else ():
            missed_ways = [way for way, (event, hit, _) in outcome.items() if event and not hit]
            alarms = [f"{way} ({n})" for way, (_, _, n) in outcome.items() if n]
            if missed_ways or alarms:
                print(f"{name} {curve}: missed {missed_ways}, false {alarms}")


if __name__ == "__main__":
    main(sys.argv[1:])
