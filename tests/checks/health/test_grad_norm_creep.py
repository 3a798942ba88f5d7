from dataclasses import replace

import pytest

from builders import MINUTE, NOON, a_history, an_excursion, an_instance, answer, some_metrics
from herorun.checks.health.grad_norm_creep import Limits, grad_norm_creep
from herorun.core.evidence import Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def lasting(rows, **changes):
    return replace(an_excursion(rows), kind="creep", **changes)


def outcome_of(*excursions, limits=None):
    return answer(grad_norm_creep, some_metrics(excursions=excursions), limits=limits).outcome


def test_a_calm_run_passes():
    assert mentions(answer(grad_norm_creep).message, "growth", "100")


@pytest.mark.parametrize(("rows", "outcome"), [(500, Outcome.FAIL), (499, Outcome.PASS)])
def test_it_must_last(rows, outcome):
    assert outcome_of(lasting(rows)) is outcome
    assert outcome_of(an_excursion(rows)) is Outcome.PASS  # of another kind


def test_the_limit_is_the_contracts():
    assert outcome_of(lasting(499), limits=Limits(rows=499)) is Outcome.FAIL
    assert outcome_of(lasting(500), limits=Limits(rows=501)) is Outcome.PASS


def test_a_declared_phase_mutes_a_warning():
    assert outcome_of(lasting(500, declared=True)) is Outcome.PASS


def test_it_says_where_it_began():
    verdict = answer(grad_norm_creep, some_metrics(excursions=(lasting(500),)))

    assert verdict.subject == "loss from step 90" and mentions(verdict.message, "progress")


def test_what_an_earlier_instance_reported_is_not_this_ones():
    relaunched_history = a_history(
        instances=(an_instance(), an_instance(2, intended=NOON, started=NOON))
    )
    old = some_metrics(excursions=(lasting(500),), advanced_at=NOON - MINUTE)

    assert answer(grad_norm_creep, relaunched_history, old).outcome is Outcome.NOT_APPLICABLE


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(grad_norm_creep, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(grad_norm_creep, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN
