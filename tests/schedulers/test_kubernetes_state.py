"""What a Job's conditions and its pods say together, by what a real cluster told."""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from builders import NOON
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Job, JobState, Placement
from herorun.core.health.queue_reasons import Waiting, why_waiting
from herorun.schedulers._kubernetes.events import own_names, warning_line
from herorun.schedulers._kubernetes.kinds import is_same_work
from herorun.schedulers._kubernetes.parse import items_of, job_record, pod_record
from herorun.schedulers._kubernetes.state import judge_kubernetes
from wording import mentions

EXIT = {"startedAt": "2026-03-02T12:00:00Z", "finishedAt": "2026-03-02T12:30:00Z"}


def stamp(seconds: float = 0) -> str:
    return f"{NOON + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}"


def a_job(*conditions: tuple[str, str], **result: Any) -> dict[str, Any]:
    entries = [
        {"type": name, "status": "True", "reason": reason, "lastTransitionTime": stamp(1900)}
        for name, reason in conditions
    ]
    return {
        "metadata": {
            "name": "tiny-1",
            "uid": "u-1",
            "creationTimestamp": stamp(),
            "labels": {"herorun/instance": "tiny-1", "herorun/root": "abc"},
            "annotations": result.get("annotations", {}),
        },
        "spec": {
            "parallelism": result.get("parallelism", 1),
            "suspend": result.get("suspend", False),
        },
        "status": {"startTime": stamp(), "conditions": entries},
    }


def a_pod(phase: str, name: str = "tiny-1-a", **result: Any) -> dict[str, Any]:
    state = result.get("state", {"running": {"startedAt": stamp(2)}} if phase == "Running" else {})
    meta = {
        "name": name,
        "uid": f"uid of {name}",
        "labels": {"herorun/instance": "tiny-1"},
        "creationTimestamp": stamp(result.get("created", 0)),
        "ownerReferences": [{"uid": "u-1", "controller": True}],
        "annotations": result.get("annotations", {}),
    }
    if result.get("deleting"):
        meta["deletionTimestamp"] = stamp(60)
    status = {
        "phase": phase,
        "containerStatuses": [{"name": "main", "state": state, "restartCount": 0}],
        "conditions": result.get("conditions", []),
        **{name: result[name] for name in ("reason", "message") if name in result},
    }
    return {"metadata": meta, "spec": {"nodeName": result.get("node", "node-1")}, "status": status}


def judge_job(job: dict[str, Any], *pods: dict[str, Any], names: tuple[str, ...] = ()) -> Job:
    return judge_kubernetes(job_record(job), [pod_record(pod) for pod in pods], names)


def ended_pod(code: int, reason: str = "Error", **result: Any) -> dict[str, Any]:
    state = {"terminated": {"exitCode": code, "reason": reason, **EXIT}}
    return a_pod("Failed" if code else "Succeeded", state=state, **result)


def disruption(reason: str) -> list[dict[str, str]]:
    return [{"type": "DisruptionTarget", "status": "True", "reason": reason}]


FAILED_CONDITION = ("Failed", "BackoffLimitExceeded")


@pytest.mark.parametrize(
    ("pod", "state", "code"),
    [
        (ended_pod(3), JobState.FAILED, 3),
        (ended_pod(78), JobState.FAILED, 78),
        (ended_pod(137, "OOMKilled"), JobState.OUT_OF_MEMORY, 137),
        (
            ended_pod(137, conditions=disruption("PreemptionByScheduler")),
            JobState.PREEMPTED,
            137,
        ),
        (ended_pod(143, conditions=disruption("EvictionByEvictionAPI")), JobState.PREEMPTED, 143),
        (
            ended_pod(137, conditions=disruption("DeletionByTaintManager")),
            JobState.NODE_FAILED,
            137,
        ),
        (a_pod("Failed", reason="Evicted", message="low on memory"), JobState.PREEMPTED, None),
        (a_pod("Failed", reason="NodeLost"), JobState.NODE_FAILED, None),
    ],
)
def test_a_failed_pod_tells_what_ended_it(
    pod: dict[str, Any], state: JobState, code: int | None
) -> None:
    job = judge_job(a_job(FAILED_CONDITION), pod)
    assert (job.state, job.exit_code) == (state, code)
    assert job.failed_on == (("node-1",) if state is JobState.NODE_FAILED else ())
    assert job.has_crashed == (code != 78)


def test_the_end_is_the_condition_and_no_live_pod() -> None:
    """Seen: `Failed/DeadlineExceeded` while the pod runs on in its grace period."""
    over = a_job(("Failed", "DeadlineExceeded"))
    job = judge_job(over, a_pod("Running", deleting=True))
    assert (job.state, job.state.is_final) == (JobState.RUNNING, False)
    assert "tiny-1-a" in job.reason
    assert judge_job(over, ended_pod(143)).state is JobState.TIMED_OUT
    assert judge_job(over).state is JobState.TIMED_OUT


def test_pods_that_have_ended_are_no_end_before_the_job_says_so() -> None:
    job = judge_job(a_job(), ended_pod(1))
    assert job.state is JobState.UNKNOWN and "tiny-1-a" in job.reason


def test_a_stop_is_distinguished_from_a_deadline() -> None:
    by = {"herorun/stopped-by": "ada@box"}
    job = judge_job(a_job(("Failed", "DeadlineExceeded"), annotations=by))
    assert (job.state, job.stopped_by, job.has_crashed) == (JobState.CANCELLED, "ada@box", False)
    failed_job = judge_job(a_job(FAILED_CONDITION, annotations=by), ended_pod(1))
    assert (failed_job.state, failed_job.has_crashed) == (JobState.FAILED, True)


def test_pods_that_are_gone_leave_no_cause() -> None:
    job = judge_job(a_job(FAILED_CONDITION))
    assert job.state is JobState.FAILED and job.exit_code is None and "are gone" in job.reason


@pytest.mark.parametrize(
    "reason",
    ["ErrImageNeverPull", "ImagePullBackOff", "CreateContainerConfigError", "InvalidImageName"],
)
def test_what_never_gets_better_is_pending_and_can_never_start(reason: str) -> None:
    state = {"waiting": {"reason": reason, "message": "secret tokens not found"}}
    job = judge_job(a_job(), a_pod("Pending", state=state))
    assert (job.state, why_waiting(job.reason)) == (JobState.PENDING, Waiting.NEVER)
    assert reason in job.reason


def test_a_pod_that_no_node_takes_says_why() -> None:
    words = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
    placement_condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    job = judge_job(
        a_job(), a_pod("Pending", node="", conditions=[{**placement_condition, "message": words}])
    )
    assert (job.state, why_waiting(job.reason)) == (JobState.PENDING, Waiting.CAPACITY)
    assert f"Unschedulable: {words}" in job.reason


def test_objects_of_the_same_work_are_distinguished_from_others() -> None:
    def job(*argv: str, generate: str = "", **labels: str) -> dict[str, Any]:
        pod = {"containers": [{"name": "main", "image": "x", "command": list(argv)}]}
        template = {"metadata": {"labels": labels}, "spec": pod}
        return {"metadata": {"generateName": generate}, "spec": {"template": template}}

    mine = job("train", "--seed=1", uid="1")
    assert is_same_work(mine, job("train", "--seed=1", uid="2"))
    assert not is_same_work(mine, job("train", "--seed=2"))
    assert is_same_work(job("a", generate="fit-"), job("b", generate="fit-"))
    assert not is_same_work({"spec": {}}, {"spec": {}})  # nothing tells what they run


def test_a_pod_that_begins_is_building() -> None:
    state = {"waiting": {"reason": "ContainerCreating"}}
    assert judge_job(a_job(), a_pod("Pending", state=state)).state is JobState.BUILDING


def test_a_node_that_does_not_answer_leaves_its_pod_unknown() -> None:
    """Seen: the phase stays Running, and 44 rows were written in 22 s of NotReady."""
    job = judge_job(a_job(), a_pod("Running"), names=("node-1",))
    assert job.state is JobState.UNKNOWN and "node-1" in job.reason


@pytest.mark.parametrize("phase", ["Unknown", "Hibernating", ""])
def test_a_phase_that_nobody_knows_is_no_end(phase: str) -> None:
    assert judge_job(a_job(FAILED_CONDITION), a_pod(phase)).state is JobState.UNKNOWN


def test_a_pod_next_to_another_is_another_writer() -> None:
    """Seen: with `backoffLimit: 0`, for the whole grace period of one that was deleted."""
    old = a_pod("Running", "tiny-1-old", deleting=True)
    new = a_pod("Running", "tiny-1-new", created=60)
    job = judge_job(a_job(), old, new)
    (writer,) = job.other_writers
    assert mentions(writer, "tiny-1-old", "tiny-1-new")
    gang = [
        a_pod("Running", f"p{n}", annotations={"batch.kubernetes.io/job-completion-index": str(n)})
        for n in range(4)
    ]
    job = judge_job(a_job(parallelism=4), *gang)
    assert (job.other_writers, job.running_tasks, job.tasks) == ((), 4, 4)


def test_a_pod_whose_forerunner_vanished_may_not_be_alone() -> None:
    """Seen: after `delete --force` on a lost node the old process went on writing."""
    job = judge_job(a_job(), a_pod("Running", "tiny-1-new", created=900))
    assert len(job.other_writers) == 1 and "tiny-1-new" in job.other_writers[0]
    assert judge_job(a_job(), a_pod("Running")).other_writers == ()
    assert judge_job(a_job(), ended_pod(1), a_pod("Running", "b", created=900)).other_writers == ()


def test_a_suspended_job_waits_until_it_is_stopped() -> None:
    assert judge_job(a_job(("Suspended", "JobSuspended"), suspend=True)).state is JobState.PENDING
    by = {"herorun/stopped-by": "ada@box"}
    job = judge_job(a_job(("Suspended", "JobSuspended"), suspend=True, annotations=by))
    assert (job.state, job.stopped_by) == (JobState.CANCELLED, "ada@box")


@pytest.mark.parametrize("answer", [{}, {"items": None}, {"items": [3]}, {"kind": "Status"}])
def test_an_answer_that_is_no_list_is_no_empty_one(answer: dict[str, Any]) -> None:
    with pytest.raises(CouldNotLook):
        items_of(answer)


@pytest.mark.parametrize("fields", [{}, {"metadata": None}, {"metadata": {"name": "x"}}])
def test_an_object_that_cannot_be_read_is_no_crash(fields: dict[str, Any]) -> None:
    for read in (job_record, pod_record):
        with pytest.raises(CouldNotLook):
            read(fields)


def test_the_nodes_and_images_of_a_job_are_those_that_its_pods_ran() -> None:
    first, second = a_pod("Running"), a_pod("Running", "b", node="node-2")
    for pod in (first, second):
        (status,) = pod["status"]["containerStatuses"]
        status["imageID"] = "docker-pullable://registry.test/train@sha256:1"
    waiting = a_pod("Pending", "c", node="node-3")  # it has pulled nothing yet
    placement = judge_job(a_job(parallelism=3), first, second, waiting).placement
    assert placement == Placement(("node-1", "node-2"), ("registry.test/train@sha256:1",))
    assert judge_job(a_job(), waiting).placement is None


def test_a_warning_is_one_line_with_its_time_and_number() -> None:
    event = {
        "involvedObject": {"kind": "Pod", "name": "tiny-1-abcde"},
        "reason": "BackOff",
        "message": "pulling\nimage",
        "count": 3,
        "lastTimestamp": stamp(),
    }
    line = warning_line(event)
    assert mentions(line, stamp()[:16], "pod tiny-1-abcde: BackOff: pulling image", "3 times")
    assert mentions(warning_line({}), "undated")


def test_pods_of_another_instance_are_not_its_own() -> None:
    assert own_names("tiny-1", is_indexed=False).fullmatch("tiny-1-abcde")
    assert own_names("tiny-1", is_indexed=True).fullmatch("tiny-1-12-abcde")
    assert not own_names("tiny-1", is_indexed=False).fullmatch("tiny-1-2-abcde")
    assert not own_names("tiny-1", is_indexed=True).fullmatch("tiny-11-abcde")


RECORDING = Path(__file__).parents[1] / "recordings" / "kubernetes" / "kubelet.json"


@pytest.mark.parametrize(
    ("name", "state", "code", "reason"),
    [
        ("tiny-1", JobState.OUT_OF_MEMORY, 137, "OOMKilled"),
        ("tiny-2", JobState.FAILED, 78, "Error"),
        ("tiny-3", JobState.SUCCEEDED, 0, ""),
        ("tiny-4", JobState.PENDING, None, "absent@sha256"),
        ("tiny-5", JobState.PENDING, None, "CreateContainerConfigError"),
    ],
)
def test_what_a_kubelet_with_containerd_has_told(
    name: str, state: JobState, code: int | None, reason: str
) -> None:
    """Recorded by tests/schedulers/test_kubernetes_kubelet.py."""
    answers = json.loads(RECORDING.read_text("utf-8"))
    (record,) = [each for each in map(job_record, answers["jobs"]) if each.name == name]
    pods = [pod for pod in map(pod_record, answers["pods"]) if pod.owner == record.uid]
    job = judge_kubernetes(record, pods)
    assert (job.state, job.exit_code) == (state, code)
    assert reason in job.reason and len(pods) == 1
    images = job.placement.images if job.placement else ()
    assert all(re.fullmatch(r"registry\.test/train@sha256:[0-9a-f]{64}", each) for each in images)
    assert len(images) == (not state.live)


def an_initial_pod(phase: str, state: dict[str, Any]) -> dict[str, Any]:
    """One whose main container waits for an init container in that state."""
    pod = a_pod(phase)
    waits = {"waiting": {"reason": "PodInitializing"}}
    pod["status"]["containerStatuses"] = [{"name": "main", "state": waits}]
    pod["status"]["initContainerStatuses"] = [
        {"name": "code", "state": state},
        {"name": "later", "state": waits},
    ]
    return pod


def test_what_an_init_container_waits_for_is_named_before_what_waits_for_it() -> None:
    absent = {"waiting": {"reason": "ErrImagePull", "message": "no such image"}}
    assert pod_record(an_initial_pod("Pending", absent)).waiting.reason == "ErrImagePull"
    running = {"running": {"startedAt": stamp()}}
    assert pod_record(an_initial_pod("Pending", running)).waiting.reason == "PodInitializing"


def test_an_init_container_that_failed_is_how_its_pod_ended() -> None:
    end: dict[str, Any] = {"exitCode": 78, "reason": "Error", "message": "its digest differs\n"}
    pod_end = pod_record(an_initial_pod("Failed", {"terminated": end})).ended
    assert pod_end and pod_end.exit_code == 78
    assert mentions(pod_end.reason, "init container code", "Error", end["message"].strip())
    over = {"terminated": {"exitCode": 0, "reason": "Completed"}}
    assert pod_record(an_initial_pod("Pending", over)).ended is None
