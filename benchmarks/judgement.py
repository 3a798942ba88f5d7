"""Curves and logs that people labelled, counted set by set: what was found, and what was called
wrongly.

`python -m benchmarks.judgement tuned=FOLDER fresh=FOLDER ...`: a folder with LABELS.json holds
curves, one with INDEX.csv alone excerpts of logs. `--list` names what was missed. A set that rules
were made on says little of them; compare it with one that nobody has looked at.

`tenth=benchmarks/excerpts.json` takes the curves of the tenth set whose rows that file keeps. Where
a set also has the rows at which a reader would page (`read`), they are counted by the same rules:
what the numbers alone can show. Without a set, those whose rows the file keeps are named.
"""

import csv
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from herorun.core.backtest.curve import FiredAlert
from herorun.core.backtest.report import spread
from herorun.core.backtest.score import CURVE, QUIET, QUIET_TIME, SECONDS, SLACK, SPEED, Label
from herorun.core.check import Topic
from herorun.core.triage.classes import QUIET as NO_FAILURE
from herorun.core.triage.scan import Scan, finish, scan
from herorun.core.triage.state import AttemptLog, see
from herorun.core.triage.verdict import LONG_SILENCE, judge_log, no_end
from herorun.operations.report.backtest import backtest, read_labels
from herorun.signatures import load_signature_set

EXCERPTS = Path(__file__).parent / "excerpts.json"
WORKERS = 2
CURVES = (
    "| curves | events found | false criticals on clean | on noisy | throughput found "
    "| warnings on clean | false criticals per 1,000 run-hours | delay in rows |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- |"
)
LOGS = "| logs | right | benign called a failure |\n| --- | --- | --- |"


@dataclass
class CurveCounts:
    """Curves with events, and quiet ones, of one set."""

    events: int = 0
    hits: int = 0
    clean: int = 0
    noisy: int = 0
    false_clean: int = 0
    false_noisy: int = 0
    time_events: int = 0
    time_found: int = 0
    warnings: int = 0
    row_delays: list[int] = field(default_factory=list)  # of each event that is found
    quiet_rows: int = 0  # of the clean and noisy curves
    notes: list[str] = field(default_factory=list)

    def rate(self) -> str:
        """False criticals per 1,000 run-hours of the quiet curves."""
        hours = self.quiet_rows * SECONDS / 3600
        false = self.false_clean + self.false_noisy
        return f"{1000 * false / hours:.1f} in {hours:,.0f} h" if hours else "-"

    def add(self, name: str, label: Label, rows: int, alerts: Sequence[FiredAlert]) -> None:
        curve = [a for a in alerts if a.topic in CURVE and a.severity == "critical"]
        speed = [a for a in alerts if a.topic in SPEED]
        if label.label in QUIET or label.label.startswith("no-loss"):
            self.quiet_rows += rows
            self._quiet(name, label, alerts, curve, speed)
        elif label.events:
            hit = any(_within(event, alert) for event in label.events for alert in curve)
            self.events += 1
            self.hits += hit
            if not hit:
                summary = ", ".join(f"{a.severity} {a.check} at {a.row}" for a in alerts[:6])
                self.notes.append(f"missed {name} ({label.label}): {label.events[0]}: {summary}")
        self._delays(label, curve)
        for event in label.time_events:
            self.time_events += 1
            hit = any(_within(event, alert) for alert in speed)
            self.time_found += hit
            if not hit:
                self.notes.append(f"missed throughput {name}: {event}")

    def _delays(self, label: Label, curve: Sequence[FiredAlert]) -> None:
        for event in label.events:
            rows = [alert.row for alert in curve if _within(event, alert)]
            self.row_delays += [max(min(rows) - event[0], 0)] if rows else []

    def _quiet(
        self,
        name: str,
        label: Label,
        alerts: Sequence[FiredAlert],
        curve: Sequence[FiredAlert],
        speed: Sequence[FiredAlert],
    ) -> None:
        slow = [a for a in speed if a.severity == "critical"]
        false = [*curve, *(slow if label.time_label in QUIET_TIME else ())]
        if label.label == "clean" or label.label.startswith("no-loss"):
            self.clean += 1
            self.false_clean += len(false)
            self.warnings += sum(a.severity == "warn" for a in alerts)
        else:
            self.noisy += 1
            self.false_noisy += len(false)
        kinds = Counter(a.check for a in false)
        if false:
            first = false[0]
            self.notes.append(
                f"false on {label.label} {name}: {dict(kinds)}; row {first.row}: {first.message}"
            )


def _within(event: tuple[int, int, str], alert: FiredAlert) -> bool:
    return event[0] - SLACK <= alert.row <= event[1] + SLACK


def curves(folder: Path) -> CurveCounts:
    labels, counts = read_labels(folder / "LABELS.json"), CurveCounts()
    with ProcessPoolExecutor(WORKERS) as pool:
        for name, rows, alerts in pool.map(
            partial(_judge_curve, folder), sorted(labels), chunksize=4
        ):
            counts.add(name, labels[name], rows, alerts)
    return counts


def _judge_curve(folder: Path, name: str) -> tuple[str, int, list[FiredAlert]]:
    ((_, rows, alerts),) = backtest([folder / name], None).files
    return name, rows, alerts


def readings(folder: Path) -> Iterator[tuple[str, CurveCounts]]:
    """Each strictness of a reader who saw the numbers alone, and what these pages find."""
    labels = read_labels(folder / "LABELS.json")
    whole = json.loads((folder / "LABELS.json").read_text(encoding="utf-8"))
    pages = {name: whole[name]["read"] for name in labels if "read" in whole[name]}
    for strictness in dict.fromkeys(key for rows in pages.values() for key in rows):
        counts = CurveCounts()
        for name, rows in pages.items():
            alerts = [_page(row) for row in rows[strictness]]
            counts.add(name, labels[name], whole[name]["rows"], alerts)
        yield strictness, counts


def _page(row: int) -> FiredAlert:
    return FiredAlert(
        check="reader",
        severity="critical",
        topic=Topic.METRIC,
        subject="loss",
        row=row,
        step=row,
        until_row=None,
        message="",
    )


def logs(folder: Path) -> tuple[int, int, int, int, list[str]]:
    """How many have the right class of how many; how many benign ones were called a failure, of
    how many.
    """
    right = total = false = benign = 0
    notes = []
    for row in _index(folder):
        failure = str(triage_log(folder / row["file"]))
        quiet = row["class"] in NO_FAILURE
        total += 1
        right += failure == row["class"] or (quiet and failure in NO_FAILURE)
        if row["class"] == "benign":
            benign += 1
            false += failure not in NO_FAILURE
        if failure != row["class"]:
            notes.append(f"{row['file']}: {row['class']} called {failure}")
    return right, total, false, benign, notes


def _index(folder: Path) -> Iterator[Mapping[str, str]]:
    with (folder / "INDEX.csv").open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def triage_log(path: Path) -> str:
    signature_set = load_signature_set()
    state, matches = scan(signature_set, Scan(), path.read_bytes())
    state, rest = finish(signature_set, state)
    log = see(AttemptLog(), [*matches, *rest])
    return no_end(judge_log(signature_set, log, state.last_line), log, LONG_SILENCE).failure


def unpack_curves(file: Path, name: str, home: Path) -> Path:
    """A folder of the curves of one set whose rows the file keeps."""
    curves = json.loads(file.read_text(encoding="utf-8"))["curves"]
    chosen_set = {key: curve for key, curve in curves.items() if curve.get("set") == name}
    folder = home / name
    folder.mkdir()
    for key, curve in chosen_set.items():
        columns = {title: numbers.split() for title, numbers in curve["columns"].items()}
        if "step" not in columns:
            first, stride = curve["steps"]
            columns["step"] = [first + stride * row for row in range(curve["rows"])]
        with (folder / key).open("w", newline="", encoding="utf-8") as out:
            rows = csv.writer(out)
            rows.writerows([columns, *zip(*columns.values(), strict=True)])
    (folder / "LABELS.json").write_text(json.dumps(chosen_set), encoding="utf-8")
    return folder


def kept_sets(file: Path = EXCERPTS) -> list[str]:
    """The sets of curves whose rows the file keeps."""
    curves = json.loads(file.read_text(encoding="utf-8"))["curves"].values()
    return list(dict.fromkeys(curve["set"] for curve in curves if "columns" in curve))


def usage() -> str:
    names = "\n".join(f'  "{name}=benchmarks/{EXCERPTS.name}"' for name in kept_sets())
    return (
        "usage: python -m benchmarks.judgement [--list] NAME=FOLDER|FILE ...\n"
        f"The sets whose rows this repository keeps:\n{names}"
    )


def main(argv: Sequence[str]) -> None:
    lists = "--list" in argv
    if not set(argv) - {"--list"}:
        print(usage())
        return
    sets = [each.partition("=") for each in argv if each != "--list"]
    with TemporaryDirectory() as home:
        folders = [
            (name, unpack_curves(Path(at), name, Path(home)) if Path(at).is_file() else Path(at))
            for name, _, at in sets
        ]
        _print(folders, lists)


def _print(folders: Sequence[tuple[str, Path]], lists: bool) -> None:
    notes: list[str] = []
    for table, is_curve in ((CURVES, True), (LOGS, False)):
        names = [
            (name, folder)
            for name, folder in folders
            if (folder / "LABELS.json").exists() is is_curve
        ]
        print(table if names else "", flush=True)
        for name, folder in names:
            line, more = _line(name, folder, is_curve)
            print(line, flush=True)
            notes += [f"{name}: {each}" for each in more]
    if lists:
        print("\n".join(notes))


def _line(name: str, folder: Path, is_curves: bool) -> tuple[str, list[str]]:
    if not is_curves:
        right, total, false, benign, notes = logs(folder)
        return f"| {name} | {right} of {total} | {false} of {benign} |", notes
    c = curves(folder)
    read = [
        _count_row(f"{name}, a {strictness} reader", counts)
        for strictness, counts in readings(folder)
    ]
    return "\n".join([_count_row(name, c), *read]), c.notes


def _count_row(name: str, c: CurveCounts) -> str:
    return (
        f"| {name} | {c.hits} of {c.events} | {c.false_clean} on {c.clean} "
        f"| {c.false_noisy} on {c.noisy} | {c.time_found} of {c.time_events} | {c.warnings} "
        f"| {c.rate()} | {spread(c.row_delays)} |"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
