from dataclasses import replace

from builders import MINUTE, NOON, a_history, an_excursion, an_instance, answer, some_metrics
from herorun.checks.health.interleaved_writers import Limits, interleaved_writers
from herorun.core.check import Response, Topic
from herorun.core.evidence import Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def lasting(rows, **changes):
    return replace(an_excursion(rows), kind="mixed", **changes)


def outcome_of(*excursions, limits=None):
    return answer(interleaved_writers, some_metrics(excursions=excursions), limits=limits).outcome


def test_a_calm_run_passes():
    assert mentions(answer(interleaved_writers).message, "writer", "100")


def test_one_turn_more_is_enough():
    assert outcome_of(lasting(1)) is Outcome.FAIL
    assert outcome_of(an_excursion(1)) is Outcome.PASS  # of another kind


def test_the_limit_is_the_contracts():
    assert outcome_of(lasting(4), limits=Limits(turns=5)) is Outcome.PASS
    assert outcome_of(lasting(5), limits=Limits(turns=5)) is Outcome.FAIL


def test_it_says_where_both_are():
    verdict = answer(
        interleaved_writers, some_metrics(excursions=(lasting(3, first_step=1004, expected=4.0),))
    )

    assert verdict.subject == "rows"
    assert mentions(verdict.message, "near", "4 and", "1004")


def test_it_is_one_answer_however_often_it_began():
    verdict = answer(
        interleaved_writers,
        some_metrics(excursions=(lasting(3, open=False), lasting(9, expected=7.0))),
    )

    assert "near step 7 " in verdict.message


def test_nothing_is_relaunched_next_to_another_writer():
    assert interleaved_writers.topic is Topic.JOB and interleaved_writers.vetoes_relaunch
    assert interleaved_writers.response is Response.ESCALATE


def test_what_an_earlier_instance_reported_is_not_this_ones():
    relaunched_history = a_history(
        instances=(an_instance(), an_instance(2, intended=NOON, started=NOON))
    )
    old = some_metrics(excursions=(lasting(1),), advanced_at=NOON - MINUTE)

    assert answer(interleaved_writers, relaunched_history, old).outcome is Outcome.NOT_APPLICABLE


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(interleaved_writers, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(interleaved_writers, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN
