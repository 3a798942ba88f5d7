import pytest

from builders import TEMPORARY, a_checkpoint, a_crashed_job, a_job, answer
from herorun.checks.health.crashed import crashed
from herorun.core.evidence import Checkpoints, FinalStep, Job, JobState, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

ENDINGS = {
    JobState.PENDING: Outcome.PASS,
    JobState.BUILDING: Outcome.PASS,
    JobState.RUNNING: Outcome.PASS,
    JobState.SUCCEEDED: Outcome.PASS,
    JobState.CANCELLED: Outcome.NOT_APPLICABLE,
    JobState.UNKNOWN: Outcome.UNKNOWN,
    JobState.GONE: Outcome.UNKNOWN,
}


@pytest.mark.parametrize("state", JobState)
def test_every_state(state):
    assert answer(crashed, a_job(state)).outcome is ENDINGS.get(state, Outcome.FAIL)


def test_it_says_how_it_ended_and_which():
    verdict = answer(crashed, a_crashed_job())

    assert verdict.subject == "tiny-1" and mentions(verdict.message, "tiny-1", "failed", "SIGKILL")


def test_a_refusal_is_no_crash():
    assert answer(crashed, a_job(JobState.FAILED, exit_code=78)).outcome is Outcome.NOT_APPLICABLE
    assert answer(crashed, a_job(JobState.FAILED, exit_code=77)).outcome is Outcome.FAIL


def test_no_instance_is_not_applicable_and_an_unread_one_unknown():
    assert answer(crashed, {Job: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(crashed, {Job: Unavailable("time-out")}).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("saved_steps", "outcome"),
    [
        (Checkpoints((a_checkpoint(200),)), Outcome.NOT_APPLICABLE),
        (Checkpoints((a_checkpoint(199),)), Outcome.FAIL),
        (Checkpoints((a_checkpoint(200, problem="no metadata.json"),)), Outcome.FAIL),
        (Checkpoints((a_checkpoint(200, TEMPORARY, temporary=True),)), Outcome.FAIL),
        ({Checkpoints: Unavailable("403")}, Outcome.FAIL),
    ],
)
def test_a_run_that_left_its_final_checkpoint_is_not_relaunched(saved_steps, outcome):
    assert answer(crashed, a_crashed_job(), saved_steps).outcome is outcome
    assert answer(crashed, a_crashed_job(), saved_steps, FinalStep(None)).outcome is Outcome.FAIL
