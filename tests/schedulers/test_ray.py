"""The Ray scheduler against a real head, and the states that only a real one produces."""

import json
import os
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from builders import a_contract, a_plan
from herorun.core.evidence import Job, JobState
from herorun.core.health.queue_reasons import Waiting, why_waiting
from herorun.core.ports import Absent, Found, Place, Submission, Unknown
from herorun.schedulers import ray
from ports.scheduler_suite import Rig, SchedulerSuite, SharesLooks, long_ago
from services.ray_service import Head, own_head
from services.servers import PYTHON
from wording import mentions

pytestmark = pytest.mark.back_end


def an_adapter(address: str, state: Path, **options: object) -> ray.Ray:
    fields = {"address": address, "code": "shared", "settle": "200ms", "grace": "1s", **options}
    return ray.connect(
        ray.Options.model_validate(fields), Place("tiny", str(state), "/out", "/repo")
    )


def just_now() -> datetime:
    """After the start of a head that has answered."""
    return datetime.now(UTC) - timedelta(milliseconds=400)


@dataclass(frozen=True)
class RayRig(Rig):
    state: Path = Path()
    address: str = ""
    prefix: str = ""

    def at(self, **options: object) -> "RayRig":
        """The same back end by other options."""
        return replace(self, connect=lambda: self.adapter(**options))

    def until(self, target: Callable[[Job], bool]) -> Job:
        end = time.monotonic() + self.patience
        while not target(job := self.now("tiny-1")):
            assert time.monotonic() < end, job
            time.sleep(0.1)
        return job

    def adapter(self, **options: object) -> ray.Ray:
        return an_adapter(self.address, self.state, prefix=self.prefix, **options)


@pytest.fixture
def silent() -> Iterator[str]:
    """A server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def rig(ray_head: Head, tmp_path: Path, silent: str) -> Iterator[RayRig]:
    (tmp_path / "code").mkdir()
    state, prefix = tmp_path / "state", f"{uuid4().hex[:8]}-"
    mine = {"prefix": prefix, "secrets": "on-cluster"}

    def traces() -> Iterator[bytes]:
        yield from (path.read_bytes() for path in state.rglob("*") if path.is_file())
        yield json.dumps(ray_head.get("/api/jobs/")).encode()

    yield RayRig(
        connect=lambda: an_adapter(ray_head.url, state, **mine),
        blind=lambda: an_adapter(silent, state, timeout="300ms", **mine),
        traces=traces,
        code=tmp_path / "code",
        patience=60.0,
        settle_time=just_now,
        state=state,
        address=ray_head.url,
        prefix=prefix,
    )
    for job in an_adapter(ray_head.url, state, **mine).live_jobs("tiny"):
        an_adapter(ray_head.url, state, **mine).stop(job.instance, "the test")


class TestRay(SchedulerSuite, SharesLooks):
    def test_a_missing_secret_is_named_before_anything_starts(
        self, rig: RayRig, monkeypatch
    ) -> None:
        """No secret travels to a cluster, so what nobody vouches for is missing, set here or
        not.
        """
        super().test_a_missing_secret_is_named_before_anything_starts(rig.at(), monkeypatch)


# --- states that only a real cluster produces -----------------------------------------------------

GANG = """\
import ray, time
ray.init(logging_level="error")
ray.util.placement_group([{"CPU": 99}])
time.sleep(300)
"""
FAR = (
    'cat "$HERORUN_ADMISSION"; test "$PWD" = "$HERORUN_CODE" && ./hello; pwd; echo $$ '
    "$HERORUN_MAIN_PID"
)


def test_a_killed_command_failed_by_its_signal(rig: RayRig) -> None:
    job = rig.run(rig.job("echo begun; kill -9 $$"))
    assert (job.state, job.signal, job.exit_code, job.has_crashed) == (
        JobState.FAILED,
        "SIGKILL",
        None,
        True,
    )
    assert rig.tail("tiny-1") == "begun\n"
    assert rig.adapter().find_all({"tiny-1": long_ago(), "tiny-2": rig.settle_time()}) == {
        "tiny-1": Found(job),
        "tiny-2": Absent(),
    }


def test_a_killed_supervisor_is_a_crash_and_not_somebodys_stop(rig: RayRig) -> None:
    rig.submit(rig.job("echo $PPID > new; mv new supervisor; sleep 300"))
    rig.until(lambda _: (rig.code / "supervisor").exists())
    os.kill(int((rig.code / "supervisor").read_text()), signal.SIGKILL)
    job = rig.wait_for_end("tiny-1")
    assert (job.state, job.exit_code, job.has_crashed) == (JobState.FAILED, None, True), job
    assert job.raw == "FAILED JOB_SUPERVISOR_ACTOR_DIED", job


def test_what_cannot_be_placed_is_pending_with_its_reason(rig: RayRig) -> None:
    far = rig.at(num_cpus=98)
    far.submit(far.job("true"))
    job = far.until(lambda job: "98 CPU" in job.reason)
    assert (job.state, job.started, why_waiting(job.reason)) == (
        JobState.PENDING,
        None,
        Waiting.HARDWARE,
    )
    with pytest.raises(FileNotFoundError):
        far.tail("tiny-1")


def test_a_stop_by_somebody_else_names_nobody(ray_head: Head, rig: RayRig) -> None:
    rig.submit(rig.job("sleep 300"))
    rig.until(lambda job: job.state is JobState.RUNNING)
    ray_head.post(f"/api/jobs/{rig.prefix}tiny-1/stop", {})
    job = rig.wait_for_end("tiny-1")
    assert (job.state, job.stopped_by, job.raw) == (JobState.CANCELLED, None, "STOPPED")


def test_a_driver_whose_gang_is_not_placed_runs_without_its_allocation(rig: RayRig) -> None:
    rig.submit(rig.job("", argv=(str(PYTHON), "-c", GANG)))
    job = rig.until(lambda job: "placement" in job.reason)
    assert job.state is JobState.RUNNING and mentions(job.reason, "whole", "allocation")


def test_an_upload_brings_the_code_and_the_admission_and_says_where_they_are(rig: RayRig) -> None:
    (rig.code / "hello").write_text("#!/bin/sh\necho hello\n")
    (rig.code / "hello").chmod(0o755)
    (rig.code.parent / "admission.json").write_text('{"plan": "sha256:1"}\n')
    far = replace(rig.at(code="upload"), admission=str(rig.code.parent / "admission.json"))
    assert far.run(far.job(FAR)).state is JobState.SUCCEEDED
    admission, hello, folder, pids = far.tail("tiny-1").splitlines()
    assert (admission, hello) == ('{"plan": "sha256:1"}', "hello")
    assert "_ray_pkg_" in folder and len(set(pids.split())) == 1


def test_the_cluster_offers_what_it_has(rig: RayRig) -> None:
    offer = rig.adapter().offers(a_plan(a_contract(hardware={"count": 8})))
    assert offer.hardware == {} and "0 accelerators now" in offer.partial


def test_runs_share_a_look_and_what_is_not_herorun_s_stands_next_to_them(
    ray_head: Head, rig: RayRig, tmp_path: Path
) -> None:
    """One runs, one has ended, one was never submitted, and a diagnostic was submitted by hand."""
    probe = f"{rig.prefix}tiny-probe"
    runs = {name: an_adapter(ray_head.url, tmp_path / name, prefix=rig.prefix) for name in "abc"}
    failed_job = runs["a"].submit(rig.job("exit 3"), str(rig.code), rig.admission)
    rig.wait_for_end("tiny-1")
    running = runs["b"].submit(rig.job("sleep 300", number=2), str(rig.code), rig.admission)
    ray_head.post("/api/jobs/", {"entrypoint": "sleep 300", "submission_id": probe})
    try:
        fields = {"tiny-1": long_ago(), "tiny-2": long_ago(), "tiny-3": just_now()}
        snapshots = {
            name: scheduler.with_snapshot(runs["a"].snapshot(fields))
            for name, scheduler in runs.items()
        }
        assert len({scheduler.cluster for scheduler in runs.values()}) == 1
        searches = {name: snapshots["c"].find(name, at) for name, at in fields.items()}
        assert searches["tiny-1"].job.id == failed_job.id and searches["tiny-1"].job.exit_code == 3
        assert searches["tiny-2"].job.id == running.id and searches["tiny-2"].job.state.live
        assert searches["tiny-3"] == Absent()
        assert [job.instance for job in snapshots["b"].live_jobs("tiny")] == ["tiny-2"]
        assert [job.id for job in snapshots["c"].other_jobs("tiny")] == [probe]
    finally:
        ray_head.post(f"/api/jobs/{probe}/stop", {})


# --- a head that is started anew ------------------------------------------------------------------


def test_a_head_that_is_started_again_has_forgotten_and_is_not_believed(
    needs_ray: None, tmp_path: Path
) -> None:
    (tmp_path / "code").mkdir()
    submission = Submission("tiny-1", ("sleep", "300"), ".", {}, ())
    folder = Path(tempfile.mkdtemp(prefix="hr-"))  # short: see `ray_service`
    with own_head(folder) as head:
        adapter = an_adapter(head.url, tmp_path / "state")
        assert adapter.submit(submission, str(tmp_path / "code"), "").state is JobState.PENDING
    down = adapter.find("tiny-1", long_ago())
    assert isinstance(down, Unknown) and mentions(down.why, "cannot", "reached")
    with own_head(folder, port=int(head.url.rpartition(":")[2])):
        again, elsewhere = (
            adapter.find("tiny-1", long_ago()),
            an_adapter(head.url, tmp_path / "other"),
        )
        assert isinstance(again, Unknown) and mentions(again.why, "forgotten", "before")
        assert isinstance(elsewhere.find("tiny-1", long_ago()), Unknown)
        assert elsewhere.find("tiny-2", just_now()) == Absent()
