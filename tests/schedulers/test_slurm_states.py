"""Slurm's states, each brought about by a real job."""

import fcntl
import os
import pickle
from pathlib import Path

import pytest

from herorun.core.evidence import Job, JobState
from herorun.core.health.queue_reasons import Waiting, why_waiting
from schedulers.slurm_states import walk
from services.slurm import Cluster

pytestmark = pytest.mark.back_end


@pytest.fixture(scope="session")
def jobs(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Job]:
    """One walk for all processes of the session."""
    base = tmp_path_factory.getbasetemp()
    shared_parent = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    path = shared_parent / "slurm-states.pickle"
    with (shared_parent / "slurm-states.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            path.touch()  # one that fails is not walked again
            path.write_bytes(pickle.dumps(walk(cluster, Path(tmp_path_factory.mktemp("walk")))))
    assert path.stat().st_size, "the walk has failed in another process of this session"
    jobs: dict[str, Job] = pickle.loads(path.read_bytes())
    return jobs


ENDS = {
    "exit 0": (JobState.SUCCEEDED, "COMPLETED", 0, None),
    "exit 3": (JobState.FAILED, "FAILED", 3, None),
    "exit 137": (JobState.FAILED, "FAILED", 137, None),
    "exit 255": (JobState.FAILED, "FAILED", 255, None),
    "no program": (JobState.FAILED, "FAILED", 127, None),
    "killed": (JobState.FAILED, "FAILED", None, "SIGKILL"),
    "time limit": (JobState.TIMED_OUT, "TIMEOUT", None, None),
    "stopped by us": (JobState.CANCELLED, "CANCELLED by 0", None, None),
    "stopped by another": (JobState.CANCELLED, "CANCELLED by 0", None, None),
    "preempted": (JobState.PREEMPTED, "PREEMPTED", None, None),
    "on a lost node": (JobState.NODE_FAILED, "NODE_FAIL", None, None),
    "on a node that does not boot": (JobState.NODE_FAILED, "NODE_FAIL", None, None),
}


def test_each_end_is_reported_as_it_was(jobs: dict[str, Job]) -> None:
    ends = {what: jobs[what] for what in ENDS}
    assert {
        what: (job.state, job.raw, job.exit_code, job.signal) for what, job in ends.items()
    } == ENDS
    for job in ends.values():
        assert (
            job.submitted
            and job.started
            and job.ended
            and job.submitted <= job.started <= job.ended
        )
        assert (job.tasks, job.running_tasks) == (1, None)


def test_memory_is_reported_where_it_is_limited(jobs: dict[str, Job], cluster: Cluster) -> None:
    target = JobState.OUT_OF_MEMORY if cluster.is_confined else JobState.FAILED
    assert (jobs["out of memory"].state, jobs["out of memory"].exit_code) == (target, None)


def test_who_stopped_it_is_reported(jobs: dict[str, Job]) -> None:
    assert jobs["stopped by us"].stopped_by == "ada@box"
    assert jobs["stopped by another"].stopped_by == os.environ.get("USER", "root")
    assert jobs["stopped by another"].stopped_by_hand


def test_what_no_person_did_is_a_crash_and_no_stop(jobs: dict[str, Job]) -> None:
    crashes = [jobs[what] for what in ("preempted", "time limit", "on a lost node")]
    assert [(job.has_crashed, job.stopped_by_hand) for job in crashes] == [(True, False)] * 3


def test_the_node_that_was_lost_is_named(jobs: dict[str, Job], cluster: Cluster) -> None:
    assert jobs["on a lost node"].failed_on == (cluster.node("breaking"),)


def test_a_preempted_job_that_is_to_start_again_waits(jobs: dict[str, Job]) -> None:
    """Accounting calls it PREEMPTED all the while."""
    job = jobs["preempted, to start again"]
    assert (job.state, job.raw, job.started) == (JobState.PENDING, "PENDING", None)


def test_a_job_of_a_lost_node_that_is_to_start_again_waits(jobs: dict[str, Job]) -> None:
    """Accounting calls it NODE_FAIL or REQUEUED until it runs again."""
    job = jobs["on a lost node, to start again"]
    assert (job.state, job.raw, job.ended) == (JobState.PENDING, "PENDING", None)


def test_a_node_that_boots_for_a_job_is_no_start_of_it(jobs: dict[str, Job]) -> None:
    job = jobs["while the node boots"]
    assert (job.state, job.raw, job.running_tasks, job.ended) == (
        JobState.BUILDING,
        "CONFIGURING",
        0,
        None,
    )


def test_a_job_that_waited_past_its_deadline_was_never_placed(jobs: dict[str, Job]) -> None:
    job = jobs["deadline"]
    assert (job.state, job.raw, job.reason) == (JobState.UNSCHEDULABLE, "DEADLINE", "DeadLine")
    assert (job.started, job.exit_code) == (None, None) and job.submitted < job.ended


@pytest.mark.parametrize(("name", "parts"), [("tiny-array", 3), ("tiny-mixed", 2)])
def test_an_array_and_a_heterogeneous_job_are_one_job_of_several_parts(
    jobs: dict[str, Job], name: str, parts: int
) -> None:
    job = jobs[name]
    assert (job.state, job.tasks, job.running_tasks) == (JobState.RUNNING, parts, parts)


def test_a_running_job_has_all_its_nodes(jobs: dict[str, Job]) -> None:
    job = jobs["running"]
    assert (job.state, job.tasks, job.running_tasks, job.ended) == (JobState.RUNNING, 1, 1, None)


WAITING = {
    "resources": ("Resources", Waiting.CAPACITY),
    "priority": ("Priority", Waiting.CAPACITY),
    "dependency": ("Dependency", Waiting.EXPECTED),
    "begin time": ("BeginTime", Waiting.EXPECTED),
    "held": ("JobHeldUser", Waiting.EXPECTED),
    "partition's limit": ("PartitionTimeLimit", Waiting.HARDWARE),
    "partition down": ("PartitionDown", Waiting.CAPACITY),
    "user's limit": ("QOSMaxJobsPerUserLimit", Waiting.QUOTA),
}


def test_why_each_waits_is_reported_in_slurms_own_word(jobs: dict[str, Job]) -> None:
    waiting_jobs = {what: jobs[what] for what in WAITING}
    assert {
        what: (job.reason, why_waiting(job.reason)) for what, job in waiting_jobs.items()
    } == WAITING
    assert {(job.state, job.started, job.submitted is None) for job in waiting_jobs.values()} == {
        (JobState.PENDING, None, False)
    }
