"""What holds for curves that nobody has seen: of many shapes, noises, units and logging intervals,
each from a seed.
"""

import math
from dataclasses import replace
from random import Random

import pytest

from builders import a_contract, a_row
from herorun import discover
from herorun.core.backtest.curve import BASE_EVIDENCE, CurveBacktest, judging
from herorun.core.check import Gate
from herorun.core.contract import Contract
from made_curves import BREAK, NAN, clean, rows_of

CHECKS = judging(discover.checks(Gate.HEALTH))
QUIET = (0.002, 0.01, 0.03)
STEADY = ("falls", "mixtures", "plateau", "saw-tooth")
SEEDS = range(6)


def seeds(every):
    """Each steady shape once, and a third of many seeds; the long tests try the others."""
    few = max(len(STEADY), len(every) // 3)
    return [*every[:few], *(pytest.param(seed, marks=pytest.mark.thorough) for seed in every[few:])]


ORDERED_EVIDENCE = {**BASE_EVIDENCE, Contract: a_contract(data={"order": "deterministic"})}


def alerts(rows, severity="critical", evidence=BASE_EVIDENCE):
    fired_alerts = CurveBacktest(checks=CHECKS, evidence=evidence).run(rows)
    return [alert for alert in fired_alerts if alert.severity == severity]


def steady(seed, **changes):
    """A curve that a person would see a rise on: not falling steeply, and of little noise."""
    return clean(seed, QUIET, shape=STEADY[seed % len(STEADY)], **changes)


@pytest.mark.parametrize("seed", seeds(range(24)))
def test_a_clean_curve_raises_no_alert(seed):
    made_curve = clean(seed)

    assert alerts(made_curve.rows()) == [], made_curve


BREAKS = {
    "half again and more": (lambda i, loss: 1.7 * loss, 15),
    "twice": (lambda i, loss: 2 * loss, 12),
    "twice, for twenty rows": (lambda i, loss: (2 if i < 20 else 1) * loss, 12),
    "four times, for five rows": (lambda i, loss: (4 if i < 5 else 1) * loss, 5),
    "diverging by a twentieth a row": (lambda i, loss: loss * 1.05**i, 35),
    "not a number": (lambda i, loss: NAN, 1),
    "infinite, once": (lambda i, loss: math.inf if i == 0 else loss, 1),
}


@pytest.mark.parametrize("what", BREAKS)
@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_what_breaks_is_reported_soon(what, seed):
    change, soon = BREAKS[what]
    made_curve = steady(seed)
    (first, *_) = alerts(made_curve.break_at(change))

    assert BREAK <= first.row < BREAK + soon, made_curve


HARMLESS = {
    "one row": lambda i, loss: (10 if i == 0 else 1) * loss,
    "two rows": lambda i, loss: (5 if i < 2 else 1) * loss,
    "one row, again and again": lambda i, loss: (10 if i % 25 == 0 else 1) * loss,
    "a tenth": lambda i, loss: 1.1 * loss,
    "a tenth lower": lambda i, loss: 0.9 * loss,
}


@pytest.mark.parametrize("what", HARMLESS)
@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_what_recovers_or_is_small_raises_no_alert(what, seed):
    made_curve = clean(seed)

    assert alerts(made_curve.break_at(HARMLESS[what])) == [], made_curve


@pytest.mark.parametrize("rows", [6, 9])
@pytest.mark.parametrize("seed", seeds(range(8)))
def test_fewer_than_ten_dense_steps_are_no_spike(rows, seed):
    """Steps are counted, and not rows: the same rows, ten steps apart, are one."""
    made_curve = replace(clean(seed, (0.002, 0.01), shape="plateau"), gap=1)

    def change(i, loss):
        return (1.8 if i < rows else 1) * loss

    assert alerts(made_curve.break_at(change)) == [], made_curve
    assert alerts(replace(made_curve, gap=10).break_at(change)) != [], made_curve


@pytest.mark.parametrize("seed", seeds(range(8)))
@pytest.mark.parametrize("change", [lambda i, loss: 1.2 * loss, lambda i, loss: loss * 1.001**i])
def test_a_raised_level_and_a_slow_drift_are_warned_of(seed, change):
    made_curve = clean(seed, (0.002, 0.01), rows=500, shape="plateau")
    warnings = alerts(made_curve.break_at(change), "warn")

    assert (
        warnings
        and warnings[0].row >= BREAK
        and warnings[0].check in ("loss-elevated", "loss-drift")
    ), made_curve


# --- resumes --------------------------------------------------------------------------------------


def resume_curve(seed, change, back=60):
    """A curve in its own unit, that goes back and repeats what it logged, each loss changed."""
    in_its_unit = clean(seed, QUIET)
    made_curve = replace(in_its_unit, unit=1.0, gap=1)
    losses = [loss / in_its_unit.unit for loss in made_curve.losses]
    again = [change(loss) for loss in losses[BREAK - back :]]
    return made_curve, [*rows_of(losses[:BREAK]), *rows_of(again, first=BREAK - back)]


@pytest.mark.parametrize("seed", seeds(range(8)))
def test_a_sound_resume_raises_no_alert(seed):
    # behind a jump of the data, in two shapes out of nine
    made_curve, rows = resume_curve(seed, lambda loss: loss)

    assert alerts(rows) == [], made_curve


@pytest.mark.parametrize("offset", [0.003, 0.05, -0.01])
@pytest.mark.parametrize("seed", range(3))
def test_a_resume_that_is_off_is_reported_within_its_first_rows(seed, offset):
    made_curve, rows = resume_curve(seed, lambda loss: loss + offset)
    (first, *_) = alerts(rows, evidence=ORDERED_EVIDENCE)

    assert (first.check, first.row < BREAK + 5) == ("resume-mismatch", True), made_curve


@pytest.mark.parametrize("seed", range(4))
def test_a_resume_that_differs_by_less_than_the_seeds_limit_is_quiet(seed):
    made_curve, rows = resume_curve(seed, lambda loss: loss + 0.0015)

    assert alerts(rows, evidence=ORDERED_EVIDENCE) == [], made_curve


# --- what else stands in a tracker ----------------------------------------------------------------


@pytest.mark.parametrize("seed", seeds(range(8)))
def test_rewards_and_losses_of_either_sign_raise_no_alert(seed):
    lots = Random(seed)
    rewards = [lots.gauss(-3 + 6 * i / 300, 1.0) for i in range(300)]
    negative = [-5 - 3 * (1 - math.exp(-i / 100)) + lots.gauss(0, 0.2) for i in range(300)]

    assert alerts(rows_of(rewards)) == [] and alerts(rows_of(negative)) == []


@pytest.mark.parametrize("seed", seeds(range(8)))
def test_rows_of_evaluations_between_change_nothing(seed):
    made_curve = clean(seed)
    rows = [
        result
        for row in made_curve.break_at(BREAKS["twice"][0])
        for result in (
            row,
            *([a_row(row.step, **{"eval/loss": 9.0})] if row.step % 50 == 0 else []),
        )
    ]

    def steps(result):
        return [(alert.check, alert.step) for alert in alerts(result)]

    assert steps(rows) == steps(made_curve.break_at(BREAKS["twice"][0])), made_curve


@pytest.mark.parametrize("text", ["NaN", "nan", "inf", "-inf", "Infinity", "-Infinity"])
def test_a_value_that_is_no_number_is_text_to_a_file(text, tmp_path):
    from herorun.operations.report.curve_file import rows_of as read

    path = tmp_path / "curve.csv"
    path.write_text(
        "step,loss\n" + "".join(f"{i},2.0\n" for i in range(60)) + f"60,{text}\n61,2.0\n"
    )

    assert [(alert.check, alert.row) for alert in alerts(read(path))] == [("not-finite", 60)]
