"""Losses that a run cannot have if it learns, by the vocabulary of its config."""

import pytest

from builders import a_row, answer, some_metrics
from curves import curve, fold_curve, summarise
from herorun.checks.health.loss_above_chance import loss_above_chance
from herorun.core.check import Response
from herorun.core.evidence import LeastLoss, Metrics, Nothing, PriorLaunch
from herorun.core.finding import Outcome
from wording import mentions


def plan(**config):
    return PriorLaunch("tiny-1", {"start": None, "config": config})


LM = plan(vocab_size=50304)  # ln 50304 = 10.83


def verdict_of(lowest, rows=20, steps=500, prior=LM):
    return answer(loss_above_chance, prior, some_metrics(least=LeastLoss(lowest, rows, steps)))


def test_rows_far_above_the_loss_of_untrained_weights_are_a_warning():
    verdict = verdict_of(43.3, rows=4, steps=None)

    assert verdict.outcome is Outcome.FAIL and loss_above_chance.response is Response.WARN
    assert mentions(verdict.message, "4 rows", "43.3", "4.0 times", "10.83", "vocab_size = 50304")


def test_a_loss_that_stays_at_that_of_untrained_weights_is_a_warning():
    verdict = verdict_of(10.82)

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "learns nothing", "10.82", "500 steps", "limit 200")


@pytest.mark.parametrize(
    ("evidence", "outcome"),
    [
        ({"lowest": 10.5}, Outcome.PASS),  # it has learned how frequent the tokens are
        ({"lowest": 10.82, "steps": 199}, Outcome.NOT_APPLICABLE),  # a warm-up may go on
        ({"lowest": 10.82, "steps": None}, Outcome.NOT_APPLICABLE),  # no rate is logged
        ({"lowest": 10.82, "rows": 7}, Outcome.NOT_APPLICABLE),
        ({"lowest": 43.3, "rows": 3}, Outcome.NOT_APPLICABLE),
        ({"lowest": 9e4}, Outcome.NOT_APPLICABLE),  # a sum over tokens
        ({"lowest": 43.3, "prior": plan()}, Outcome.NOT_APPLICABLE),
        ({"lowest": 4.57, "prior": plan(vocab_size=97)}, Outcome.NOT_APPLICABLE),  # symbols
        (
            {"lowest": 43.3, "prior": plan(vocab_size=50304, gradient_accumulation_steps=4)},
            Outcome.NOT_APPLICABLE,  # a sum over micro-batches
        ),
        (
            {"lowest": 43.3, "prior": plan(vocab_size=50304, gradient_accumulation_steps=16)},
            Outcome.FAIL,
        ),
    ],
)
def test_what_another_cause_explains_or_nothing_shows_is_no_failure(evidence, outcome):
    assert verdict_of(**evidence).outcome is outcome


def test_no_rows_are_no_failure():
    assert answer(loss_above_chance, LM, some_metrics()).outcome is Outcome.NOT_APPLICABLE
    assert answer(loss_above_chance, LM, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE


def rows_with(rates, losses):
    rows = zip(losses, rates, strict=True)
    return [a_row(20 * i, loss, learning_rate=rate) for i, (loss, rate) in enumerate(rows)]


@pytest.mark.parametrize(
    ("rates", "steps"),
    [
        ([1e-4] * 20, 380),  # from the first row on
        ([i * 1e-5 for i in range(1, 11)] + [1e-4] * 10, 200),  # after a warm-up
        ([i * 1e-5 for i in range(1, 21)], 0),  # in the midst of one
        ([0.0] * 20, None),
    ],
)
def test_the_steps_count_since_the_learning_rate_last_rose(rates, steps):
    least = summarise(fold_curve(rows_with(rates, [10.83] * 20))).least

    assert least.rate_held == steps and least.lowest == pytest.approx(10.83)
    assert least.rows == 20


def test_a_later_fall_counts_and_a_loss_below_zero_is_not_judged():
    learned_state = [10.83] * 40 + [10.83 * 0.98**i for i in range(1, 60)]

    assert summarise(fold_curve(curve(*learned_state, gap=20))).least.lowest < 5
    assert summarise(fold_curve(curve(10.8, -1.0, 10.8))).least is None
