"""A live run looks now and then; a backtest at every row. Both must tell the same.

A look tells what is open and what ended since the look before, so that rare looks lose time and no
evidence.
"""

import math
from pathlib import Path
from random import Random

import pytest

from curves import NAN, curve
from herorun.core.backtest.curve import BEGINNING, GIVEN, CurveBacktest, judging
from herorun.core.check import Gate, evaluate
from herorun.core.detectors import MetricsState, Names, fold_rows, summarise
from herorun.core.evidence import Metrics
from herorun.core.finding import Outcome
from herorun.discover import checks
from herorun.operations.report.backtest import columns_of, names_of, rows_of

CHECKS = judging(checks(Gate.HEALTH))
LOTS = Random(5)
FALLING = [2 + 4 * math.exp(-i / 60) + LOTS.gauss(0, 0.01) for i in range(400)]
CURVES = {
    "calm": FALLING,
    "a spike that recovers": [*FALLING, *[4.0] * 15, *FALLING[-200:]],
    "a spike that stays": [*FALLING, *[4.0] * 120],
    "a level that leapt": [*FALLING, *(1.3 * x for x in FALLING[-150:])],
    "not a number, twice": [*FALLING, NAN, *FALLING[-60:], NAN, *FALLING[-60:]],
    "zeros for good": [*FALLING, *[0.0] * 50],
    "one value for good": [*FALLING, *[2.01] * 120],
    "no learning": [7.4, 7.2, *(6.908 * math.exp(LOTS.gauss(0, 0.001)) for _ in range(200))],
    "weights begun anew": [*FALLING, *FALLING[:100]],
}


REAL = sorted((Path(__file__).parent / "curves").glob("*.csv"))


def looked(rows, every, names=Names()):  # noqa: B008  # never changes
    """Which checks fail of what at some look, `every` so many rows."""
    state, found = MetricsState(), set()
    for at in range(0, len(rows), every):
        state = fold_rows(state, rows[at : at + every], names, BEGINNING)
        metrics = summarise(state, names)
        numeric = any(e.kind == "not-finite" for e in metrics.non_finite)
        for finding in evaluate(CHECKS, {**GIVEN, Metrics: metrics}):
            if finding.verdict.outcome is Outcome.FAIL and not (
                numeric and finding.check.startswith("loss")
            ):
                found.add((finding.check, finding.verdict.subject))
    return found


@pytest.mark.parametrize("every", [1, 7, 64, 1000])
@pytest.mark.parametrize("what", CURVES)
def test_rare_looks_tell_what_a_backtest_tells(what, every):
    rows = curve(*CURVES[what], gap=20)
    told = {(alert.check, alert.subject) for alert in CurveBacktest(CHECKS).run(rows)}

    assert looked(rows, every) == told
    assert bool(told) is (what != "calm")


@pytest.mark.parametrize("gap", [1, 100, 400])
@pytest.mark.parametrize("what", CURVES)
def test_so_do_rows_that_come_more_often_or_rarely(what, gap):
    rows = curve(*CURVES[what], gap=gap)
    told = {(alert.check, alert.subject) for alert in CurveBacktest(CHECKS).run(rows)}

    assert looked(rows, 13) == told
    assert told or what in ("calm", "no learning")  # 200 rows of one step are too few for that


@pytest.mark.parametrize("every", [1, 3, 17, 64, 1000])
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_so_do_real_curves(path, every):
    names, rows = names_of(columns_of(path)), list(rows_of(path))
    told = {(alert.check, alert.subject) for alert in CurveBacktest(CHECKS, names).run(rows)}

    assert looked(rows, every, names) == told
    assert told
