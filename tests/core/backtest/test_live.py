"""A live run looks now and then; a backtest at every row. Both must tell the same.

A look tells what is open and what ended since the look before, so that rare looks lose time and no
evidence.
"""

import math
from pathlib import Path
from random import Random

import pytest

from builders import a_row
from curves import NAN, curve, leaping
from herorun.core.babysit.inhibition import is_muted, muted_topics, numeric_stretches
from herorun.core.backtest.curve import BASE_EVIDENCE, BEGINNING, CurveBacktest, judging
from herorun.core.check import Gate, evaluate
from herorun.core.detectors.names import Names
from herorun.core.detectors.pipeline import fold_rows, summarise
from herorun.core.detectors.state import MetricsState
from herorun.core.evidence import Metrics
from herorun.core.finding import Outcome
from herorun.discover import checks
from herorun.operations.report.curve_file import columns_of, names_of, rows_of

CHECKS = judging(checks(Gate.HEALTH))
BY_NAME = {check.name: check for check in CHECKS}
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
    "a spike, and then no number": [*FALLING, *[4.0] * 15, *[NAN] * 20],
    "a spike between two": [*FALLING, NAN, *FALLING[-9:], *[4.0] * 15, *FALLING[-9:], NAN],
    "many spikes": [*FALLING, *(x for _ in range(16) for x in (*[4.0] * 4, *FALLING[-60:]))],
}


REAL = sorted((Path(__file__).parent / "curves").glob("*.csv"))


def failing_checks(rows, every, names=Names()):  # noqa: B008  # never changes
    """Which checks fail of what at some look, `every` so many rows."""
    state, failures = MetricsState(), set()
    for at in range(0, len(rows), every):
        state = fold_rows(state, rows[at : at + every], names, seen_at=BEGINNING)
        evidence = {**BASE_EVIDENCE, Metrics: summarise(state, names)}
        findings = evaluate(CHECKS, evidence)
        muted_checks = muted_topics(evidence, findings, BY_NAME)
        numeric = numeric_stretches(evidence, findings, BY_NAME)
        for finding in findings:
            topic, verdict = BY_NAME[finding.check].topic, finding.verdict
            if verdict.outcome is Outcome.FAIL and not is_muted(
                topic, verdict.steps, muted_checks, numeric
            ):
                failures.add((finding.check, verdict.subject))
    return failures


def backtest_alerts(rows, names=Names()):  # noqa: B008  # never changes
    return {
        (alert.check, alert.subject)
        for alert in CurveBacktest(checks=CHECKS, names=names).run(rows)
    }


def at_any_pace(rows, paces, names=Names()):  # noqa: B008  # never changes
    """What fails by each of these paces of looking: one backtest answers for all of them."""
    return {every: failing_checks(rows, every, names) for every in paces}


@pytest.mark.thorough
@pytest.mark.parametrize("what", CURVES)
def test_rare_looks_tell_what_a_backtest_tells(what):
    rows, paces = curve(*CURVES[what], gap=20), (7, 64, 1000)
    alerts = backtest_alerts(rows)

    assert at_any_pace(rows, paces) == dict.fromkeys(paces, alerts)
    assert bool(alerts) is (what != "calm")


QUICK = ("no learning", "a spike between two", "zeros for good")  # the real curves are too


@pytest.mark.parametrize(
    "what",
    [what if what in QUICK else pytest.param(what, marks=pytest.mark.thorough) for what in CURVES],
)
def test_so_does_a_look_at_each_row(what):
    rows = curve(*CURVES[what], gap=20)
    assert failing_checks(rows, 1) == backtest_alerts(rows)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "gap", [400, *(pytest.param(gap, marks=pytest.mark.thorough) for gap in (1, 100))]
)
@pytest.mark.parametrize("what", CURVES)
def test_so_do_rows_that_come_more_often_or_rarely(what, gap):
    rows = curve(*CURVES[what], gap=gap)
    alerts = backtest_alerts(rows)

    assert failing_checks(rows, 13) == alerts
    # 200 rows of one step are too few to call it no learning, and four to call it a spike
    assert alerts or what in ("calm", "no learning", "many spikes")


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_so_do_real_curves(path):
    names, rows, paces = names_of(columns_of(path)), list(rows_of(path)), (1, 3, 17, 64, 1000)
    alerts = backtest_alerts(rows, names)

    assert at_any_pace(rows, paces, names) == dict.fromkeys(paces, alerts)
    assert alerts


@pytest.mark.parametrize("seed", range(4))
def test_so_does_a_loss_that_leaps_every_few_rows(seed):
    rows, paces = leaping(seed), (64, 400)
    alerts = backtest_alerts(rows)

    assert at_any_pace(rows, paces) == dict.fromkeys(paces, alerts)
    assert alerts


def test_rows_that_seemed_lost_for_less_than_a_chunk():
    """Three leaps alike, as with each epoch, are the way that the trainer counts."""
    rows = [a_row(1300 * epoch + step, 2.0 + step % 3) for epoch in range(5) for step in range(40)]
    (alert, *_) = [a for a in CurveBacktest(checks=CHECKS).run(rows) if a.check == "lost-rows"]

    assert alert.until_row is not None
    assert {name for name, _ in failing_checks(rows, 1)} >= {"lost-rows"}
    assert "lost-rows" not in {name for name, _ in failing_checks(rows, 1000)}
