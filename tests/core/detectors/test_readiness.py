"""A young curve on which nothing fires is not known to be healthy."""

import math
from dataclasses import replace
from random import Random

import pytest

from builders import a_history, an_excursion, answer, some_metrics
from curves import curve, fold_curve, spikes, summarise
from herorun.checks.health.flat_start import flat_start
from herorun.checks.health.loss_diverged import loss_diverged
from herorun.checks.health.loss_drift import loss_drift
from herorun.checks.health.loss_elevated import loss_elevated
from herorun.checks.health.loss_spike import loss_spike
from herorun.checks.health.throughput_collapse import throughput_collapse
from herorun.checks.health.throughput_leak import throughput_leak
from herorun.checks.health.vanished_gradient import vanished_gradient
from herorun.core.backtest.curve import CurveBacktest, judging
from herorun.core.check import Gate
from herorun.core.detectors.names import Names
from herorun.core.detectors.readiness import LEVELS, PACES
from herorun.core.evidence import UnjudgedMetric
from herorun.core.finding import Outcome
from herorun.discover import checks
from wording import mentions

CHECKS = judging(checks(Gate.HEALTH))
CHECKS_BY_METRIC = (
    flat_start,
    loss_spike,
    loss_elevated,
    loss_drift,
    loss_diverged,
    throughput_collapse,
    throughput_leak,
    vanished_gradient,
)


def unready_by_metric(rows):
    return {
        each.metric: each for each in summarise(fold_curve(rows, names=Names()), Names()).unjudged
    }


@pytest.mark.parametrize(("gap", "spike_too"), [(1, False), (400, True)])
def test_twelve_rows_judge_no_level_and_sparse_ones_no_spike(gap, spike_too):
    loss = unready_by_metric(curve(*[2.0] * 12, gap=gap))["loss"]

    assert loss.checks == (("loss-spike", *LEVELS) if spike_too else LEVELS)
    assert loss.until_row == 30
    apart = ", one about every 400 steps" if spike_too else ""
    assert mentions(loss.reason, "12 rows", apart, "30 rows")


def test_thirty_rows_judge_all():
    assert not unready_by_metric(curve(*[2.0] * 30, gap=400, grad_norm=1.0))
    assert unready_by_metric(curve(*[2.0] * 29))["loss"].until_row == 30


@pytest.mark.parametrize("names", [("step_time", "tokens_per_s"), ("tokens_per_s", "step_time")])
def test_a_rate_next_to_step_times_is_not_waited_for(names):
    """Only step times are judged then, whichever stands first in a row."""
    rows = [
        replace(row, values={"loss": 2.0, **dict.fromkeys(names, 1.0)})
        for row in curve(*[2.0] * 60)
    ]
    few = unready_by_metric(rows[:12])

    assert few["step_time"].checks == PACES
    assert "tokens_per_s" not in few
    assert unready_by_metric(rows) == {}


def a_descent(rows):
    """From 3.2 to 1.2 in the first 34 rows, with a noise of 1 % from row to row."""
    return [1.2 + 2 * math.exp(-i / 8) + 0.012 * (-1) ** i for i in range(rows)]


def test_a_descent_that_hides_a_rise_is_named():
    risen_losses = [*a_descent(40), *(1.45 * loss for loss in a_descent(60)[40:])]
    rows = curve(*risen_losses, gap=400)
    loss = unready_by_metric(rows[:40])["loss"]

    assert not spikes(*risen_losses, gap=400)
    assert loss.checks == ("loss-elevated",) and 40 < loss.until_row < 100
    assert mentions(loss.reason, "13.4%", "7.0%", "loss-spike")
    assert unready_by_metric(rows)["loss"].checks == ("loss-elevated",)  # the rise is noise by then


@pytest.mark.parametrize(("low", "high"), [(1.21, 1.74), (2.35, 2.95)])
@pytest.mark.parametrize("before", [36, 40, 50, 100])
def test_a_rise_for_good_of_a_sparse_curve_is_found(low, high, before):
    """Two public language runs rose so, with 400 steps between two rows."""
    rows = [
        alert.row
        for alert in CurveBacktest(checks=CHECKS).run(risen_for_good(low, high, before))
        if alert.severity == "critical"
    ]
    assert len(rows) == 1 and before + 2 <= rows[0] <= before + 5


@pytest.mark.parametrize(("low", "high"), [(1.21, 1.74), (2.35, 2.95)])
def test_a_rise_in_the_midst_of_the_first_descent_is_named_as_not_judged(low, high):
    rows = risen_for_good(low, high, 18)
    criticals = [
        alert for alert in CurveBacktest(checks=CHECKS).run(rows) if alert.severity == "critical"
    ]

    assert not criticals
    for end in range(18, 18 + 20):
        assert "loss-elevated" in unready_by_metric(rows[: end + 1])["loss"].checks


def risen_for_good(low, high, before):
    lots = Random(1)
    levels = [low + (10.5 - low) * math.exp(-i / 6) for i in range(before)] + [high] * 40
    return curve(*(level * math.exp(lots.gauss(0, 0.01)) for level in levels), gap=400)


def test_a_descent_is_not_forgotten_before_the_row_that_is_named():
    until = unready_by_metric(curve(*a_descent(40), gap=400))["loss"].until_row

    assert unready_by_metric(curve(*a_descent(until - 1), gap=400))
    assert not unready_by_metric(curve(*a_descent(until + 40), gap=400))


def test_a_curve_that_is_as_loud_from_row_to_row_is_judged():
    loud = [2.0 * (1.3 if i % 2 else 1.0) for i in range(40)]

    assert not unready_by_metric(curve(*loud))


def test_norms_and_speeds_have_rows_of_their_own():
    of = unready_by_metric(curve(*[2.0] * 32, grad_norm=1.0, tokens_per_s=900.0))

    assert list(of) == ["tokens_per_s"]  # whose first five rows are not judged
    assert of["tokens_per_s"].checks == PACES and of["tokens_per_s"].until_row == 35
    assert unready_by_metric(curve(*[2.0] * 9, grad_norm=1.0))["grad_norm"].checks == (
        "vanished-gradient",
    )


def test_a_loss_below_zero_is_not_judged():
    loss = unready_by_metric(curve(*[2.0] * 40, -1.0, *[2.0] * 5))["loss"]

    assert "loss-spike" in loss.checks and mentions(loss.reason, "above", "zero")


def test_one_that_was_never_above_zero_waits_for_no_row():
    for losses in ([0.0] * 40, [-2.0 + 0.01 * i for i in range(40)], [0.0, *[-1.0] * 40]):
        (loss,) = summarise(fold_curve(curve(*losses), names=Names()), Names()).unjudged

        assert {"loss-spike", *LEVELS, "flat-start"} == {*loss.checks}
        assert loss.until_row is None and mentions(loss.reason, "no loss", "above zero")


def test_one_that_was_no_number_so_far_is_not_said_to_be_below_zero():
    loss = unready_by_metric(curve(*[math.nan] * 40))["loss"]

    assert not mentions(loss.reason, "above", "zero")


def test_one_that_changes_its_sign_waits_for_rows_above_zero():
    alternating = [(-1.0) ** i for i in range(601)]
    for losses, until in ((alternating, 601 + 499 + 30), (alternating[:-1], None)):
        (loss,) = summarise(fold_curve(curve(*losses), names=Names()), Names()).unjudged

        assert loss.until_row == until and mentions(loss.reason, "530 rows", "above zero")


def flat(rows, falls):
    """With a noise of 0.3 %, and no vocabulary of a usual tokenizer near it."""
    lots = Random(3)
    return [4.0 * math.exp(lots.gauss(0, 0.003) - falls * i) for i in range(rows)]


def test_one_that_stands_from_the_first_row_is_no_sign_of_learning():
    (loss,) = summarise(fold_curve(curve(*flat(60, 0), gap=50), names=Names()), Names()).unjudged
    verdict = answer(flat_start, a_history(), some_metrics(unjudged=(loss,)))

    assert (loss.checks, loss.until_row) == (("flat-start",), None)
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert not unready_by_metric(curve(*flat(60, 0.001), gap=50))
    assert not unready_by_metric(curve(*flat(60, 0), gap=1))  # 60 steps teach little


@pytest.mark.parametrize("check", CHECKS_BY_METRIC)
def test_each_named_check_exists_and_does_not_pass_unseen(check):
    young = some_metrics(unjudged=(UnjudgedMetric("loss", (check.name,), "too young", 30),))
    verdict = answer(check, a_history(), young)

    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert mentions(verdict.message, "young", "30")
    assert answer(check, a_history(), some_metrics()).outcome is Outcome.PASS


def test_no_other_check_is_named():
    assert {*LEVELS, *PACES, "loss-spike", "vanished-gradient", "flat-start"} == {
        each.name for each in CHECKS_BY_METRIC
    }


def test_a_young_curve_that_is_bad_is_told_anyway():
    young = (UnjudgedMetric("loss", ("loss-spike",), "too young", 30),)
    bad = some_metrics(spikes=(an_excursion(12, peak=9.0),), unjudged=young)

    assert answer(loss_spike, bad).outcome is Outcome.FAIL


def test_a_discriminators_column_makes_a_rise_of_its_rival_no_critical():
    def names():
        return Names(loss=("loss_gen",))

    losses = [*[1.0 + 0.01 * (i % 2) for i in range(60)], *[1.6] * 40]
    alone = [replace(row, values={"loss_gen": row.values["train/loss"]}) for row in curve(*losses)]
    beside = [replace(row, values={**row.values, "loss_dis": 0.2}) for row in alone]
    severities = {
        alert.severity for alert in CurveBacktest(checks=CHECKS, names=names()).run(beside)
    }

    assert severities == {"warn"}
    assert "critical" in {
        each.severity for each in CurveBacktest(checks=CHECKS, names=names()).run(alone)
    }
    state = fold_curve(beside[:30], names=names())
    later = fold_curve(alone[30:], state, names=names())
    summary = summarise(later, names())
    assert summary.rival == "loss_dis"  # also by rows without that column
    assert {u.metric: u.checks for u in summary.unjudged}["loss"] == ("loss-diverged",)


def rival_among(loss, columns):
    names = Names(loss=(loss,))
    rows = curve(*[2.0] * 12)
    values = dict.fromkeys((loss, *columns), 2.0)
    rows = [replace(row, values=values) for row in rows]
    return summarise(fold_curve(rows, names=names), names).rival


@pytest.mark.parametrize(
    ("loss", "rival"),
    [
        ("loss_gen", "loss_dis"),
        ("train/disc_loss", "train/gen_loss"),
        ("generator/loss", "discriminator/loss"),
        ("actor_loss", "critic_loss"),
        ("g_loss", "d_loss"),
        ("loss_D", "loss_G"),
    ],
)
def test_the_judged_loss_and_its_rival_are_one_pair(loss, rival):
    assert rival_among(loss, [rival, "lr"]) == rival


LETTERS = tuple(f"loss_{letter}" for letter in "abcdefg")


@pytest.mark.parametrize(
    ("loss", "columns"),
    [
        ("loss", LETTERS),
        ("loss_d", LETTERS),
        ("loss_g", ("loss_c", "loss_d")),
        ("loss_g", ("loss_d", "l_loss")),
        ("loss", ("loss_d", "loss_g")),
        ("loss", ("loss/en.d", "loss/en.g")),
        ("loss/en.d", ("loss/en.g",)),
        ("losses/c4_g", ("losses/c4_d",)),
        ("loss", ("losses/c4_g", "loss/d")),
        ("loss/g", ("loss/d",)),
        ("loss", ("loss_scale/g", "loss_scale/d")),
        ("loss_scale_gen", ("loss_scale_disc",)),
        ("loss", ("eval/gen_loss", "eval/loss_d")),
        ("gen_loss", ("eval/disc_loss", "loss_d")),
        ("eval/gen_loss", ("eval/disc_loss",)),
        ("loss", ("gen_loss", "disc_loss")),  # ELECTRA: the sum
        ("train/loss", ("train/gen_loss", "train/disc_loss")),
        ("gen_loss", ("disc_loss", "loss")),
        (
            "gen_loss",
            ("disc_loss", *(f"loss_{task}" for task in ("qa", "nli", "ner", "pos", "mt"))),
        ),
        ("train/gen_loss", ("disc_loss",)),
        ("loss_gen", ("disc_loss",)),
        ("loss_gen", ("loss_gen_2",)),
        ("policy_loss", ("disc_loss",)),
        ("loss_dis", ()),
        ("gen_loss", ()),
    ],
)
def test_a_loss_is_judged_where_a_rival_is_in_doubt(loss, columns):
    assert rival_among(loss, columns) == ""
