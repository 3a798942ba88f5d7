from dataclasses import replace

import pytest

from builders import MINUTE, NOON, a_history, an_excursion, an_instance, answer, some_metrics
from herorun.checks.health.frozen_loss import Limits, frozen_loss
from herorun.core.check import Response, Topic
from herorun.core.evidence import Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def lasting(rows, **changes):
    return replace(an_excursion(rows), kind="frozen", **changes)


def outcome_of(*excursions, limits=None):
    return answer(frozen_loss, some_metrics(excursions=excursions), limits=limits).outcome


def test_a_calm_run_passes():
    assert mentions(answer(frozen_loss).message, "repeats", "100")


@pytest.mark.parametrize(("rows", "outcome"), [(30, Outcome.FAIL), (29, Outcome.PASS)])
def test_it_must_last(rows, outcome):
    assert outcome_of(lasting(rows)) is outcome
    assert outcome_of(an_excursion(rows)) is Outcome.PASS  # of another kind


def test_the_limit_is_the_contracts():
    assert outcome_of(lasting(29), limits=Limits(rows=29)) is Outcome.FAIL
    assert outcome_of(lasting(30), limits=Limits(rows=31)) is Outcome.PASS


def test_a_declared_phase_mutes_a_warning():
    assert outcome_of(lasting(30, declared=True)) is Outcome.PASS


def test_it_says_which_value_and_since_when():
    verdict = answer(frozen_loss, some_metrics(excursions=(lasting(30, expected=2.3125),)))

    assert verdict.subject == "loss from step 90"
    assert mentions(verdict.message, "loss", "2.3125", "90")
    over = answer(frozen_loss, some_metrics(excursions=(lasting(30, open=False),)))
    assert mentions(over.message, "step", "119")


def test_it_only_reports():
    assert frozen_loss.response is Response.WARN and frozen_loss.topic is Topic.METRIC


def test_what_an_earlier_instance_reported_is_not_this_ones():
    relaunched_history = a_history(
        instances=(an_instance(), an_instance(2, intended=NOON, started=NOON))
    )
    old = some_metrics(excursions=(lasting(30),), advanced_at=NOON - MINUTE)

    assert answer(frozen_loss, relaunched_history, old).outcome is Outcome.NOT_APPLICABLE


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(frozen_loss, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(frozen_loss, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN
