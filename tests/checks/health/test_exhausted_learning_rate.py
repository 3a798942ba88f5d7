from dataclasses import replace

import pytest

from builders import MINUTE, NOON, a_history, an_excursion, an_instance, answer, some_metrics
from herorun.checks.health.exhausted_learning_rate import Limits, exhausted_learning_rate
from herorun.core.check import Response, Topic
from herorun.core.evidence import FinalStep, Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def lasting(rows, **changes):
    return replace(an_excursion(rows), kind="spent", **changes)


def outcome_of(*excursions, limits=None):
    return answer(
        exhausted_learning_rate, some_metrics(excursions=excursions), limits=limits
    ).outcome


def test_a_calm_run_passes():
    assert mentions(answer(exhausted_learning_rate).message, "above zero", "100")


@pytest.mark.parametrize(("rows", "outcome"), [(10, Outcome.FAIL), (9, Outcome.PASS)])
def test_it_must_last(rows, outcome):
    assert outcome_of(lasting(rows)) is outcome
    assert outcome_of(an_excursion(rows)) is Outcome.PASS  # of another kind


def test_the_limit_is_the_contracts():
    assert outcome_of(lasting(9), limits=Limits(rows=9)) is Outcome.FAIL
    assert outcome_of(lasting(10), limits=Limits(rows=11)) is Outcome.PASS


@pytest.mark.parametrize(("last", "outcome"), [(198, Outcome.FAIL), (199, Outcome.PASS)])
def test_in_the_last_hundredth_of_the_run_it_may_be_zero(last, outcome):
    assert outcome_of(lasting(10, last_step=last)) is outcome  # the run ends at step 200


@pytest.mark.parametrize(
    "final", [FinalStep(None), {FinalStep: Nothing()}, {FinalStep: Unavailable("no config")}]
)
def test_without_a_final_step_it_may_be_the_end(final):
    metrics = some_metrics(excursions=(lasting(10),))

    assert answer(exhausted_learning_rate, metrics, final).outcome is Outcome.NOT_APPLICABLE


def test_a_declared_phase_may_have_none():
    assert outcome_of(lasting(10, declared=True)) is Outcome.PASS


def test_it_says_since_when_and_when_the_run_ends():
    verdict = answer(exhausted_learning_rate, some_metrics(excursions=(lasting(10, metric="lr"),)))

    assert mentions(verdict.message, "zero", "10 steps", "90", "200")
    assert (
        exhausted_learning_rate.response is Response.ESCALATE
        and exhausted_learning_rate.topic is Topic.METRIC
    )


def test_what_an_earlier_instance_reported_is_not_this_ones():
    relaunched_history = a_history(
        instances=(an_instance(), an_instance(2, intended=NOON, started=NOON))
    )
    old = some_metrics(excursions=(lasting(10),), advanced_at=NOON - MINUTE)

    assert (
        answer(exhausted_learning_rate, relaunched_history, old).outcome is Outcome.NOT_APPLICABLE
    )


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(exhausted_learning_rate, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(exhausted_learning_rate, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN
