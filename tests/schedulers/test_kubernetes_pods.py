"""Pods that do not start, end twice or vanish, on a real API server and its controllers."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from herorun.core.evidence import JobState
from herorun.core.health.queue_reasons import Waiting, why_waiting
from herorun.core.ports import Found, LogPart, Unknown
from herorun.schedulers.kubernetes import Kubernetes
from schedulers.kubernetes_rig import adapter, by_id
from schedulers.test_kubernetes_traps import find_job, one_pod, submit
from services.k8s import Space
from services.k8s_node import stamp, wait_for
from wording import mentions

pytestmark = pytest.mark.back_end


def has_begun(scheduler: Kubernetes) -> bool:
    """As a tick reads its log."""
    try:
        return scheduler.tail("tiny-1", 20_000) == "begun\n"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("reason", ["ErrImageNeverPull", "CreateContainerConfigError"])
def test_what_cannot_start_stays_active_and_says_why(
    reason: str, space_by_hand: Space, tmp_path: Path
) -> None:
    space, scheduler = space_by_hand, adapter(space_by_hand, tmp_path)
    submit(scheduler, tmp_path)
    pod = one_pod(space)
    wait_for(lambda: space.control.pods(space.name)[0]["spec"].get("nodeName"), 40)
    message = "not to be had"
    waiting = {"waiting": {"reason": reason, "message": message}}
    status = {"name": "main", "state": waiting, "ready": False, "restartCount": 0}
    container = {**status, "image": "x", "imageID": ""}
    space.control.set_pod(space.name, pod, phase="Pending", containerStatuses=[container])
    job = find_job(scheduler)
    assert (job.state, why_waiting(job.reason)) == (JobState.PENDING, Waiting.NEVER)
    assert mentions(job.reason, pod, reason, message)
    assert space.jobs()[0]["status"]["active"] == 1


def test_a_deadline_is_no_end_while_the_pod_runs(space: Space, tmp_path: Path) -> None:
    scheduler = adapter(space, tmp_path, time_limit="8s", grace="4s")
    submit(scheduler, tmp_path, "echo begun; trap '' TERM; while true; do sleep 0.1; done")
    wait_for(lambda: has_begun(scheduler), 60)
    wait_for(lambda: "DeadlineExceeded" in find_job(scheduler).raw, 60)
    job = find_job(scheduler)
    assert job.state.is_final or mentions(job.reason, "still", "write")
    job = wait_for(lambda: (j := find_job(scheduler)).state.is_final and j, 60)
    assert (job.state, job.stopped_by) == (JobState.TIMED_OUT, None)
    # the cluster deletes it, and its log
    wait_for(lambda: space.control.pods(space.name) == [], 60)
    assert mentions(scheduler.tail("tiny-1", 5), "begun\n", "gone")
    with pytest.raises(FileNotFoundError):
        adapter(space, tmp_path / "elsewhere").tail("tiny-1", 5)


def test_a_forced_deletion_may_leave_two_writers(space_by_hand: Space, tmp_path: Path) -> None:
    """Nobody has seen the end of the process of the pod before."""
    space, scheduler = space_by_hand, adapter(space_by_hand, tmp_path)
    submit(scheduler, tmp_path)
    first = one_pod(space)
    space.set_running(first)
    before = stamp(datetime.now(UTC) - timedelta(minutes=5))
    space.control.ask(
        "PATCH",
        f"/apis/batch/v1/namespaces/{space.name}/jobs/tiny-1/status",
        {"status": {"startTime": before}},  # it has run for long
        "application/merge-patch+json",
    )
    at_once = {"gracePeriodSeconds": 0}
    space.control.ask("DELETE", f"/api/v1/namespaces/{space.name}/pods/{first}", at_once)
    second = wait_for(
        lambda: [p for p in space.control.pods(space.name) if p["metadata"]["name"] != first], 60
    )[0]["metadata"]["name"]
    space.set_running(second)
    (words,) = find_job(scheduler).other_writers
    assert mentions(words, second, "place", "write")


def test_after_a_ttl_nobody_can_say_how_it_ended(space: Space, tmp_path: Path) -> None:
    job = space.job("brief", ["true"], str(tmp_path))
    job["spec"]["ttlSecondsAfterFinished"] = 1
    space.control.ask("POST", f"/apis/batch/v1/namespaces/{space.name}/jobs", job)
    assert isinstance(by_id(space).find_job("brief"), Found)
    wait_for(lambda: not space.jobs(), 60)
    answer = by_id(space).find_job("brief")
    assert isinstance(answer, Unknown) and mentions(answer.why, "brief", "deleted")


def test_the_log_of_the_attempt_before_comes_first(space: Space, tmp_path: Path) -> None:
    script = "test -e again && echo second && exit; touch again; echo first; exit 1"
    job = space.job("twice", ["sh", "-c", script], str(tmp_path))
    job["spec"]["backoffLimit"] = 3
    job["spec"]["template"]["spec"]["restartPolicy"] = "OnFailure"
    space.control.ask("POST", f"/apis/batch/v1/namespaces/{space.name}/jobs", job)
    jobs = by_id(space)

    def has_ended() -> bool:
        answer = jobs.find_job("twice")
        return isinstance(answer, Found) and answer.job.state is JobState.SUCCEEDED

    wait_for(has_ended, 60)
    assert jobs.tail("twice", 5) == "first\nsecond\n"
    assert jobs.tail("twice", 1) == "second\n"
    assert jobs.log_age("twice") < timedelta(minutes=5)


def test_a_log_is_read_on_past_a_restart_of_its_container(space: Space, tmp_path: Path) -> None:
    """From its beginning, which is that of the earlier attempt; then each line once."""
    (tmp_path / "orders").mkdir()
    script = (
        "mkdir attempt 2> /dev/null && echo first || echo second; "
        "while ! rmdir orders/go; do sleep 0.05; done 2> /dev/null; echo last; exit 1"
    )
    job = space.job("twice", ["sh", "-c", script], str(tmp_path))
    job["spec"]["backoffLimit"] = 6
    job["spec"]["template"]["spec"]["restartPolicy"] = "OnFailure"
    space.control.ask("POST", f"/apis/batch/v1/namespaces/{space.name}/jobs", job)

    def read(offset: int, mark: str) -> LogPart:
        try:
            logs, pods = by_id(space)._logs("twice")
            return logs.read_on(pods, offset, 1 << 20, mark)
        except FileNotFoundError:
            return LogPart(b"", offset, offset, mark)

    first = wait_for(lambda: (part := read(0, "")).data == b"first\n" and part, 60)
    (tmp_path / "orders" / "go").mkdir()
    again = wait_for(
        lambda: (part := read(first.offset, first.mark)).data.endswith(b"second\n") and part, 60
    )
    assert (again.data, again.restarted) == (b"first\nlast\nsecond\n", True)
    assert again.offset == again.size == len(again.data)
    nothing = read(again.offset, again.mark)
    assert (nothing.data, nothing.restarted) == (b"", False)
