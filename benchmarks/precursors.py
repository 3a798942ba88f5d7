"""How long before a divergence `instability-precursor` speaks, and how often it speaks for nothing.

`python -m benchmarks.precursors [FOLDER ...]`: on columns made by chance, whose laws are known, and
on the gradient norms of labelled curves (a folder with LABELS.json).
"""

import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from statistics import median

from herorun.core.backtest.curve import CurveBacktest, judging
from herorun.core.backtest.score import QUIET
from herorun.core.check import Gate
from herorun.core.detectors.names import Names
from herorun.core.ports import Row
from herorun.discover import checks
from herorun.operations.report.backtest import backtest, read_labels

CHECK = "instability-precursor"
ROWS, DIVERGES, RUNS = 6000, 5000, 20
BEFORE = 1000  # rows before an event in which a line counts as a warning of it
Law = Callable[[int], float]  # row -> value
LAWS: tuple[tuple[str, str, float, Law], ...] = (  # column, what it does, noise, the law
    ("max_attention_logit", "grows linearly", 0.1, lambda i: 20 + 80 * max(i - 3000, 0) / 2000),
    ("max_attention_logit", "doubles every 500 rows", 0.1, lambda i: 20 * 2 ** (i / 500 - 6)),
    ("g2_over_v_rms", "grows linearly", 0.3, lambda i: 1 + 4 * max(i - 4000, 0) / 1000),
    ("router/entropy", "falls linearly", 0.02, lambda i: 4 - 3 * max(i - 4000, 0) / 1000),
    ("update_rms", "grows by half and stays", 0.1, lambda i: 1.5 if i > 3000 else 1.0),
    ("max_attention_logit", "saturates", 0.1, lambda i: 10 + 40 * (1 - math.exp(-i / 1500))),
    ("router/max_load", "stands, noisy", 0.5, lambda i: 2.0),
    ("update_rms", "follows the learning rate", 0.1, lambda i: min(i / 500, 1 - i / 8000) + 0.01),
)


def _rows(column: str, noise: float, law: Law, lots: Random) -> Iterator[Row]:
    for i in range(ROWS):
        value = law(i) * math.exp(lots.gauss(0, noise))
        rate = min((i + 1) / 500, 1 - i / 8000)
        loss = 2.0 * math.exp(lots.gauss(0, 0.01))
        yield Row(i, {"lr": rate, "loss": loss, column: value}, None)


def _first_lines(column: str, noise: float, law: Law) -> list[list[int]]:
    """Of each run, the rows in which a line begins."""
    health_checks = judging(checks(Gate.HEALTH))
    runs = []
    for seed in range(RUNS):
        alerts = CurveBacktest(checks=health_checks, names=Names(first_step=1)).run(
            _rows(column, noise, law, Random(seed))
        )
        runs.append([alert.row for alert in alerts if alert.check == CHECK])
    return runs


def simulate_laws() -> Iterator[str]:
    yield "| column | what it does | runs with a line | lines a run | rows before row 5,000 |"
    yield "| --- | --- | --- | --- | --- |"
    for column, words, noise, law in LAWS:
        runs = _first_lines(column, noise, law)
        early = [DIVERGES - lines[0] for lines in runs if lines and lines[0] < DIVERGES]
        lead = f"{median(early):.0f}" if early else "-"
        a_run = sum(map(len, runs)) / RUNS
        yield f"| {column} | {words} | {sum(map(bool, runs))} of {RUNS} | {a_run:.1f} | {lead} |"


def real(folder: Path) -> str:
    """Of each curve its first event: later ones are preceded by those before them."""
    labels = read_labels(folder / "LABELS.json")
    events = quiet_rows = false = 0
    leads = []
    for name, label in labels.items():
        if "grad_norm" not in (folder / name).read_text(encoding="utf-8").partition("\n")[0]:
            continue
        ((_, rows, alerts),) = backtest([folder / name], None).files
        lines = [alert.row for alert in alerts if alert.check == CHECK]
        if label.label in QUIET:
            quiet_rows, false = quiet_rows + rows, false + len(lines)
        elif label.events:
            events += 1
            first = min(event[0] for event in label.events)
            leads += [first - row for row in lines if first - BEFORE <= row < first][:1]
    lead = f", {median(leads):.0f} rows before as the median" if leads else ""
    return (
        f"{folder.name}: a line in the {BEFORE} rows before the first event on {len(leads)} of "
        f"{events} curves{lead}; {false} lines in {quiet_rows:,} quiet rows"
    )


if __name__ == "__main__":
    for line in simulate_laws():
        print(line, flush=True)
    for each in sys.argv[1:]:
        print(real(Path(each)), flush=True)
