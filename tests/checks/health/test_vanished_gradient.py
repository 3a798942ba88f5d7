from dataclasses import replace

import pytest

from builders import MINUTE, NOON, a_history, an_excursion, an_instance, answer, some_metrics
from herorun.checks.health.vanished_gradient import Limits, vanished_gradient
from herorun.core.check import Response, Topic
from herorun.core.evidence import Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def lasting(rows, **changes):
    return replace(an_excursion(rows), kind="vanished", **changes)


def outcome_of(*excursions, limits=None):
    return answer(vanished_gradient, some_metrics(excursions=excursions), limits=limits).outcome


def test_a_calm_run_passes():
    assert mentions(answer(vanished_gradient).message, "gradient", "100")


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
    verdict = answer(vanished_gradient, some_metrics(excursions=(lasting(10, metric="grad_norm"),)))

    assert verdict.subject == "grad_norm from step 90" and mentions(
        verdict.message, "exactly", "0 for", "10 steps", "90", "2"
    )


def test_it_is_numerical_trouble_that_no_relaunch_fixes():
    assert vanished_gradient.topic is Topic.NUMERIC and vanished_gradient.vetoes_relaunch
    assert vanished_gradient.response is Response.ESCALATE


def test_what_an_earlier_instance_reported_is_not_this_ones():
    relaunched_history = a_history(
        instances=(an_instance(), an_instance(2, intended=NOON, started=NOON))
    )
    old = some_metrics(excursions=(lasting(10),), advanced_at=NOON - MINUTE)

    assert answer(vanished_gradient, relaunched_history, old).outcome is Outcome.NOT_APPLICABLE


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(vanished_gradient, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(vanished_gradient, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN
