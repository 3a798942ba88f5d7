from dataclasses import replace

import pytest

from builders import MINUTE, NOON, a_history, an_excursion, an_instance, answer, some_metrics
from herorun.checks.health.loss_diverged import Limits, loss_diverged
from herorun.core.evidence import Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def lasting(rows, **changes):
    return replace(an_excursion(rows), kind="diverged", **changes)


def outcome_of(*excursions, limits=None):
    return answer(loss_diverged, some_metrics(excursions=excursions), limits=limits).outcome


def test_a_calm_run_passes():
    assert mentions(answer(loss_diverged).message, "divergence", "100")


@pytest.mark.parametrize(("rows", "outcome"), [(50, Outcome.FAIL), (49, Outcome.PASS)])
def test_it_must_last(rows, outcome):
    assert outcome_of(lasting(rows)) is outcome
    assert outcome_of(an_excursion(rows)) is Outcome.PASS  # of another kind


def test_the_limit_is_the_contracts():
    assert outcome_of(lasting(49), limits=Limits(rows=49)) is Outcome.FAIL
    assert outcome_of(lasting(50), limits=Limits(rows=51)) is Outcome.PASS


def test_a_declared_phase_mutes_no_critical():
    assert outcome_of(lasting(50, declared=True)) is Outcome.FAIL


def test_it_says_where_it_began():
    verdict = answer(loss_diverged, some_metrics(excursions=(lasting(50),)))

    assert verdict.subject == "loss from step 90" and mentions(verdict.message, "progress")


def test_what_an_earlier_instance_reported_is_not_this_ones():
    relaunched_history = a_history(
        instances=(an_instance(), an_instance(2, intended=NOON, started=NOON))
    )
    old = some_metrics(excursions=(lasting(50),), advanced_at=NOON - MINUTE)

    assert answer(loss_diverged, relaunched_history, old).outcome is Outcome.NOT_APPLICABLE


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(loss_diverged, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(loss_diverged, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, Outcome.FAIL),
        ({"typical": 1.14}, Outcome.PASS),  # less than 15 %
        ({"noise": 0.03}, Outcome.PASS),  # within eight times the noise
        ({"rows": 9}, Outcome.PASS),
        ({"last_step": 180}, Outcome.PASS),  # 91 steps
        ({"declared": True}, Outcome.PASS),  # a phase that the contract declares
    ],
)
def test_a_level_that_leapt_is_reported_before_its_trend_has_followed(changes, outcome):
    """1.21 to 1.74, logged every 400 steps."""
    leapt = replace(
        an_excursion(10, 1.44), kind="elevated", typical=1.25, noise=0.02, last_step=4000
    )

    verdict = answer(loss_diverged, some_metrics(excursions=(replace(leapt, **changes),)))
    assert verdict.outcome is outcome


@pytest.mark.parametrize(("rows", "outcome"), [(500, Outcome.FAIL), (499, Outcome.PASS)])
def test_a_fifth_of_what_was_learned_is_lost(rows, outcome):
    regression = replace(an_excursion(rows), kind="regressed")

    assert outcome_of(regression) is outcome
    assert outcome_of(replace(regression, declared=True)) is Outcome.PASS


def test_a_rivals_loss_may_rise():
    metrics = some_metrics(excursions=(lasting(50),), rival="errD")

    assert answer(loss_diverged, metrics).outcome is Outcome.PASS
