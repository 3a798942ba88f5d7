from dataclasses import replace

import pytest

from builders import MINUTE, NOON, a_history, an_excursion, an_instance, answer, some_metrics
from herorun.checks.health.zero_loss import Limits, zero_loss
from herorun.core.check import Topic
from herorun.core.evidence import Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def lasting(rows, **changes):
    return replace(an_excursion(rows), kind="collapsed", **changes)


def outcome_of(*excursions, limits=None):
    return answer(zero_loss, some_metrics(excursions=excursions), limits=limits).outcome


def test_a_calm_run_passes():
    assert mentions(answer(zero_loss).message, "zero", "100")


@pytest.mark.parametrize(("rows", "outcome"), [(10, Outcome.FAIL), (9, Outcome.PASS)])
def test_it_must_last(rows, outcome):
    assert outcome_of(lasting(rows)) is outcome
    assert outcome_of(an_excursion(rows)) is Outcome.PASS  # of another kind


def test_the_limit_is_the_contracts():
    assert outcome_of(lasting(9), limits=Limits(rows=9)) is Outcome.FAIL
    assert outcome_of(lasting(10), limits=Limits(rows=11)) is Outcome.PASS


def test_a_declared_phase_mutes_no_critical():
    assert outcome_of(lasting(10, declared=True)) is Outcome.FAIL


def test_it_says_where_it_began():
    verdict = answer(zero_loss, some_metrics(excursions=(lasting(10),)))

    assert verdict.subject == "loss from step 90" and mentions(
        verdict.message, "exactly", "0 for", "10 steps", "90", "2"
    )


def test_what_an_earlier_instance_reported_is_not_this_ones():
    relaunched_history = a_history(
        instances=(an_instance(), an_instance(2, intended=NOON, started=NOON))
    )
    old = some_metrics(excursions=(lasting(10),), advanced_at=NOON - MINUTE)

    assert answer(zero_loss, relaunched_history, old).outcome is Outcome.NOT_APPLICABLE


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(zero_loss, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(zero_loss, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN


def test_it_is_heard_next_to_a_value_that_is_not_finite():
    assert zero_loss.topic is Topic.NUMERIC and zero_loss.vetoes_relaunch
