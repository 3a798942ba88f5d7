from dataclasses import replace

import pytest

from builders import MINUTE, NOON, a_history, an_excursion, an_instance, answer, some_metrics
from herorun.checks.health.weights_reset import weights_reset
from herorun.core.evidence import Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def lasting(rows, **changes):
    return replace(an_excursion(rows), kind="untrained", **changes)


def outcome_of(*excursions, limits=None):
    return answer(weights_reset, some_metrics(excursions=excursions), limits=limits).outcome


def test_a_calm_run_passes():
    assert mentions(answer(weights_reset).message, "beginning", "100")


@pytest.mark.parametrize(("rows", "outcome"), [(1, Outcome.FAIL)])
def test_it_must_last(rows, outcome):
    assert outcome_of(lasting(rows)) is outcome
    assert outcome_of(an_excursion(rows)) is Outcome.PASS  # of another kind


def test_a_declared_phase_mutes_no_critical():
    assert outcome_of(lasting(1, declared=True)) is Outcome.FAIL


def test_it_says_where_it_began():
    verdict = answer(weights_reset, some_metrics(excursions=(lasting(1),)))

    assert verdict.subject == "loss from step 90" and mentions(
        verdict.message, "down to 2", "first rows", "3.2", "90"
    )


def test_what_an_earlier_instance_reported_is_not_this_ones():
    relaunched_history = a_history(
        instances=(an_instance(), an_instance(2, intended=NOON, started=NOON))
    )
    old = some_metrics(excursions=(lasting(1),), advanced_at=NOON - MINUTE)

    assert answer(weights_reset, relaunched_history, old).outcome is Outcome.NOT_APPLICABLE


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(weights_reset, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(weights_reset, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN
