import pytest

from builders import MINUTE, a_job, answer
from herorun.checks.health.partial_allocation import partial_allocation
from herorun.core.check import Hold
from herorun.core.evidence import JobState
from herorun.core.finding import Outcome
from wording import mentions


def tasks(running, of=64, state=JobState.RUNNING, **job):
    return answer(partial_allocation, a_job(state, tasks=of, running_tasks=running, **job))


def test_a_job_without_parts_is_not_applicable():
    assert answer(partial_allocation).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize("state", [JobState.PENDING, JobState.BUILDING, JobState.RUNNING])
def test_some_of_the_tasks_are_too_few(state):
    verdict = tasks(63, state=state, reason="SchedulingGated")

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "63 of 64", "tiny-1", "SchedulingGated")


@pytest.mark.parametrize("running", [0, 64])
def test_all_or_none_is_no_part(running):
    assert tasks(running).outcome is Outcome.PASS


def test_an_ended_or_doubtful_job_is_not_judged():
    assert tasks(3, state=JobState.FAILED).outcome is Outcome.NOT_APPLICABLE
    assert tasks(3, state=JobState.GONE).outcome is Outcome.UNKNOWN


def test_a_quarter_of_an_hour_is_an_ordinary_start():
    assert partial_allocation.hold == Hold(15 * MINUTE)
