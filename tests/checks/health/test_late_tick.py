from datetime import timedelta

import pytest

from builders import EVERY, MINUTE, NOON, a_contract, a_history, a_job, an_instance, answer
from herorun.checks.health.late_tick import late_tick
from herorun.core.check import Response, Topic
from herorun.core.evidence import Cadence, End, Job, JobState, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

SECOND = timedelta(seconds=1)


def after(ago, cadence=EVERY, **changes):
    old = (an_instance(started=NOON - timedelta(days=2)),)
    fields = {"instances": old, "last_tick": NOON - ago, **changes}
    return answer(late_tick, a_history(**fields), Cadence(cadence))


@pytest.mark.parametrize(("cadence", "limit"), [(EVERY, 30 * MINUTE), (SECOND, 2 * MINUTE)])
def test_two_cadences_and_at_least_two_minutes(cadence, limit):
    assert after(limit, cadence).outcome is Outcome.PASS
    assert after(limit + SECOND, cadence).outcome is Outcome.FAIL


def test_it_says_since_when():
    assert mentions(after(45 * MINUTE).message, "45m", "2026-01-01", "11:15", "cadence", "15m")


def test_a_new_instance_counts_as_a_look():
    young = (an_instance(started=NOON - 10 * MINUTE),)

    assert after(timedelta(days=1), instances=young).outcome is Outcome.PASS


def test_the_first_tick_and_a_run_that_nobody_is_to_watch():
    assert answer(late_tick, a_history(0)).outcome is Outcome.NOT_APPLICABLE
    declined_contract = a_contract(babysit={"declined": "a short trial"})
    assert (
        answer(late_tick, a_history(last_tick=NOON - timedelta(days=3)), declined_contract).outcome
        is Outcome.NOT_APPLICABLE
    )


def test_after_a_good_end_nothing_is_left_to_watch():
    old = a_history(
        instances=(an_instance(started=NOON - timedelta(days=4)),),
        last_tick=NOON - timedelta(days=3),
    )

    assert answer(late_tick, old, a_job(JobState.SUCCEEDED)).outcome is Outcome.NOT_APPLICABLE
    assert answer(late_tick, old, {Job: Unavailable("squeue: time-out")}).outcome is Outcome.FAIL


def test_a_run_that_was_stopped_is_not_to_be_watched():
    """Its babysitter has ended; a tick typed by hand is not late."""
    end = End(instance="tiny-1", state=JobState.CANCELLED, at=NOON - 50 * MINUTE)
    stop_fields = {"stopped": (("tiny-1", "ada"),)}
    assert after(45 * MINUTE, ends=(end,), **stop_fields).outcome is Outcome.NOT_APPLICABLE
    assert after(45 * MINUTE, **stop_fields).outcome is Outcome.FAIL
    assert after(45 * MINUTE, ends=(end,)).outcome is Outcome.FAIL


def test_it_warns_about_the_monitor():
    assert (late_tick.response, late_tick.topic) == (Response.WARN, Topic.MONITOR)
