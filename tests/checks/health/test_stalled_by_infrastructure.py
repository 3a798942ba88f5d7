from datetime import timedelta

import pytest

from builders import EVERY, MINUTE, NOON, a_job, answer, some_metrics
from herorun.checks.health.stalled_by_infrastructure import stalled_by_infrastructure
from herorun.core.check import Hold, Response
from herorun.core.evidence import Cadence, JobLog, JobState, Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from herorun.core.health.stall_patterns import signal_in
from wording import mentions

SECOND = timedelta(seconds=1)
OWNER = "ray.exceptions.OwnerDiedError: Failed to retrieve object"


def still(idle, line=OWNER, cadence=EVERY, **job):
    running = a_job(**{"started": NOON - timedelta(days=1), **job})
    return answer(
        stalled_by_infrastructure,
        running,
        some_metrics(advanced_at=NOON - idle),
        JobLog(wedges=(line,)),
        Cadence(cadence),
    )


@pytest.mark.parametrize(
    ("cadence", "limit"),
    [(EVERY, 30 * MINUTE), (MINUTE, 1140 * SECOND), (570 * SECOND, 1140 * SECOND)],
)
def test_two_cadences_and_at_least_19_minutes(cadence, limit):
    assert still(limit, cadence=cadence).outcome is Outcome.PASS
    assert still(limit + SECOND, cadence=cadence).outcome is Outcome.FAIL


def test_it_says_which_sign():
    assert mentions(still(31 * MINUTE).message, "tiny-1", "31m", "death", f"{OWNER}")


def test_without_a_sign_it_is_only_a_stall():
    assert still(5 * EVERY, "step 100 loss 2.5").outcome is Outcome.PASS
    assert (
        answer(
            stalled_by_infrastructure,
            some_metrics(advanced_at=NOON - 50 * MINUTE),
            {JobLog: Nothing()},
        ).outcome
        is Outcome.NOT_APPLICABLE
    )


def test_the_schedulers_reason_is_a_sign_too():
    queue_reason = "autoscaler: unsatisfied resources {TPU: 4}"

    assert still(31 * MINUTE, "quiet", reason=queue_reason).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (OWNER, "owner death"),
        ("the dead node 10.0.0.3 was removed", "dead node"),
        ("NodeDiedError: node died", "dead node"),
        ("(autoscaler) Error: request {'TPU': 4} is unsatisfied", "unsatisfied resources"),
        (
            (
                "(raylet) The node with node id: 3f has been marked dead because the detector has "
                "missed"
            ),
            "dead node",
        ),
        (
            "(autoscaler) Error: No available node types can fulfill resource request {'TPU': 4.0}",
            "unsatisfied resources",
        ),
        ("all is well, owner is @dri", ""),
    ],
)
def test_the_seeds_signals(line, name):
    assert signal_in(line) == name


def test_a_job_that_does_not_run_or_cannot_be_seen():
    assert (
        answer(stalled_by_infrastructure, a_job(JobState.FAILED)).outcome is Outcome.NOT_APPLICABLE
    )
    assert answer(stalled_by_infrastructure, a_job(JobState.GONE)).outcome is Outcome.UNKNOWN
    assert (
        answer(stalled_by_infrastructure, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN
    )


def test_it_is_reported_at_once():
    assert (stalled_by_infrastructure.response, stalled_by_infrastructure.hold) == (
        Response.ESCALATE,
        Hold(),
    )
