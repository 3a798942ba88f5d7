from dataclasses import replace

from builders import MINUTE, NOON, a_history, an_excursion, an_instance, answer, some_metrics
from herorun.checks.health.duplicate_rows import Limits, duplicate_rows
from herorun.core.check import Response, Topic
from herorun.core.evidence import Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def lasting(rows, **changes):
    return replace(an_excursion(rows), kind="doubled", **changes)


def outcome_of(*excursions, limits=None):
    return answer(duplicate_rows, some_metrics(excursions=excursions), limits=limits).outcome


def test_a_calm_run_passes():
    assert mentions(answer(duplicate_rows).message, "reported", "100")


def test_one_turn_more_is_enough():
    assert outcome_of(lasting(1)) is Outcome.FAIL
    assert outcome_of(an_excursion(1)) is Outcome.PASS  # of another kind


def test_the_limit_is_the_contracts():
    assert outcome_of(lasting(4), limits=Limits(steps=5)) is Outcome.PASS
    assert outcome_of(lasting(5), limits=Limits(steps=5)) is Outcome.FAIL


def test_it_says_since_when():
    verdict = answer(
        duplicate_rows, some_metrics(excursions=(lasting(3, first_step=1004), lasting(3)))
    )

    assert verdict.subject == "rows" and mentions(verdict.message, "reported", "90 on")


def test_it_only_reports():
    assert duplicate_rows.response is Response.WARN and duplicate_rows.topic is Topic.MONITOR


def test_what_an_earlier_instance_reported_is_not_this_ones():
    relaunched_history = a_history(
        instances=(an_instance(), an_instance(2, intended=NOON, started=NOON))
    )
    old = some_metrics(excursions=(lasting(1),), advanced_at=NOON - MINUTE)

    assert answer(duplicate_rows, relaunched_history, old).outcome is Outcome.NOT_APPLICABLE


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(duplicate_rows, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(duplicate_rows, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN
