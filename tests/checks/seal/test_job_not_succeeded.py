import pytest

from builders import a_job, answer
from herorun.checks.seal.job_not_succeeded import job_not_succeeded
from herorun.core.evidence import Job, JobState, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

OTHERS = {
    JobState.SUCCEEDED: Outcome.PASS,
    JobState.UNKNOWN: Outcome.UNKNOWN,
    JobState.GONE: Outcome.UNKNOWN,
}


@pytest.mark.parametrize("state", JobState)
def test_only_success_passes(state):
    assert answer(job_not_succeeded, a_job(state)).outcome is OTHERS.get(state, Outcome.FAIL)


def test_it_says_why():
    assert mentions(answer(job_not_succeeded, a_job()).message, "tiny-1", "running")
    assert "exit code 3" in answer(job_not_succeeded, a_job(JobState.FAILED, exit_code=3)).message


def test_a_run_that_was_never_launched_fails():
    assert answer(job_not_succeeded, {Job: Nothing()}).outcome is Outcome.FAIL


def test_an_unread_job_is_unknown():
    assert answer(job_not_succeeded, {Job: Unavailable("time-out")}).outcome is Outcome.UNKNOWN
