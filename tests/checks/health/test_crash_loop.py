from datetime import timedelta

import pytest

from builders import MINUTE, NOON, a_history, a_job, answer
from herorun.checks.health.crash_loop import crash_loop
from herorun.core.check import Response
from herorun.core.evidence import JobState
from herorun.core.finding import Outcome
from wording import mentions


def ask_check(*observations, **job):
    """(minutes ago, attempt), as the ticks saw them."""
    starts = tuple((NOON - ago * MINUTE, attempt) for ago, attempt in observations)
    return answer(crash_loop, a_job(**job), a_history(starts=starts))


@pytest.mark.parametrize(("attempt", "outcome"), [(5, Outcome.PASS), (6, Outcome.FAIL)])
def test_five_starts_again_within_half_an_hour(attempt, outcome):
    assert ask_check((28, 1), (14, 3), (0, attempt)).outcome is outcome


def test_it_says_how_often():
    assert mentions(ask_check((28, 1), (0, 8)).message, "tiny-1", "7 times", "30m", "attempt", "8")


def test_what_lies_further_back_does_not_count():
    assert ask_check((90, 1), (60, 6), (31, 11)).outcome is Outcome.PASS
    assert ask_check((45, 1), (15, 9)).outcome is Outcome.PASS  # four of the eight
    assert ask_check((45, 1), (15, 11)).outcome is Outcome.FAIL  # five of the ten


def test_many_starts_in_a_long_gap_of_the_monitor_are_no_storm():
    assert ask_check((600, 1), (0, 21)).outcome is Outcome.PASS


def test_a_job_without_check_in_or_that_does_not_run():
    assert answer(crash_loop).outcome is Outcome.NOT_APPLICABLE
    assert ask_check((20, 1), (0, 9), state=JobState.FAILED).outcome is Outcome.NOT_APPLICABLE
    assert crash_loop.response is Response.ESCALATE


def test_one_look_at_a_high_attempt_tells_no_rate():
    assert ask_check((0, 40), started=NOON - timedelta(days=9)).outcome is Outcome.PASS
