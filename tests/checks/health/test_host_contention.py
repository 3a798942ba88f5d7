import pytest

from builders import NOON, a_job, answer
from herorun.checks.health.host_contention import host_contention
from herorun.core.check import Response
from herorun.core.evidence import Complaint, JobLog, JobState
from herorun.core.finding import Outcome
from wording import mentions

COMPLAINT = Complaint(
    failure_class="host-contention",
    weight="symptom",
    line=9,
    excerpt="load average: 312",
    advice="Cap threads.",
    since=NOON,
)


def test_a_noisy_neighbour_is_reported_while_the_job_runs():
    verdict = answer(host_contention, JobLog(crowded=COMPLAINT))

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "tiny-1", "host-contention", "9 of", "average", "312")
    assert host_contention.response is Response.WARN


def test_a_quiet_log():
    assert answer(host_contention, JobLog()).outcome is Outcome.PASS


@pytest.mark.parametrize("state", [JobState.PENDING, JobState.FAILED])
def test_a_job_that_does_not_run(state):
    assert (
        answer(host_contention, a_job(state), JobLog(crowded=COMPLAINT)).outcome
        is Outcome.NOT_APPLICABLE
    )
