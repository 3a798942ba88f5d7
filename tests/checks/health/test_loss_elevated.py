from dataclasses import replace

import pytest

from builders import MINUTE, NOON, a_history, an_excursion, an_instance, answer, some_metrics
from herorun.checks.health.loss_elevated import Limits, loss_elevated
from herorun.core.evidence import Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def lasting(rows, **changes):
    return replace(an_excursion(rows), kind="elevated", **changes)


def outcome_of(*excursions, limits=None):
    return answer(loss_elevated, some_metrics(excursions=excursions), limits=limits).outcome


def test_a_calm_run_passes():
    assert mentions(answer(loss_elevated).message, "raised", "100")


@pytest.mark.parametrize(("rows", "outcome"), [(20, Outcome.FAIL), (19, Outcome.PASS)])
def test_it_must_last(rows, outcome):
    assert outcome_of(lasting(rows)) is outcome
    assert outcome_of(an_excursion(rows)) is Outcome.PASS  # of another kind


def test_the_limit_is_the_contracts():
    assert outcome_of(lasting(19), limits=Limits(rows=19)) is Outcome.FAIL
    assert outcome_of(lasting(20), limits=Limits(rows=21)) is Outcome.PASS


def test_a_declared_phase_mutes_a_warning():
    assert outcome_of(lasting(20, declared=True)) is Outcome.PASS


def test_it_says_where_it_began():
    verdict = answer(loss_elevated, some_metrics(excursions=(lasting(20),)))

    assert verdict.subject == "loss from step 90" and mentions(verdict.message, "progress")


def test_what_an_earlier_instance_reported_is_not_this_ones():
    relaunched_history = a_history(
        instances=(an_instance(), an_instance(2, intended=NOON, started=NOON))
    )
    old = some_metrics(excursions=(lasting(20),), advanced_at=NOON - MINUTE)

    assert answer(loss_elevated, relaunched_history, old).outcome is Outcome.NOT_APPLICABLE


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(loss_elevated, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(loss_elevated, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("kind", ["spike", "shifted", "stepped"])
def test_a_rise_of_a_rivals_loss_is_a_warning_with_its_reason(kind):
    rise = replace(an_excursion(20), kind=kind, noise=0.1)
    parts = {"spikes": (rise,)} if kind == "spike" else {"excursions": (rise,)}

    assert answer(loss_elevated, some_metrics(**parts)).outcome is Outcome.PASS
    verdict = answer(loss_elevated, some_metrics(**parts, rival="loss_dis"))
    assert verdict.outcome is Outcome.FAIL and mentions(verdict.message, "'loss_dis'")
