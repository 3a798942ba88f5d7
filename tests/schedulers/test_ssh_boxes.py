"""The scheduler ssh where boxes fail: a cut link, a full disk, too little memory, a power loss."""

import contextlib
import shlex
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from builders import a_plan
from herorun.core.doctor_report import Fit
from herorun.core.errors import CouldNotLook, HerorunError
from herorun.core.evidence import Job, JobState
from herorun.core.ports import Absent, Found, Submission, Unknown
from herorun.schedulers import ssh
from ports.scheduler_suite import long_ago
from schedulers.test_ssh import adapter, eventually
from services.boxes import Box
from wording import mentions

pytestmark = pytest.mark.back_end

JOBS = "/root/jobs"


@pytest.fixture
def scheduler(own_box: Box, tmp_path: Path) -> Iterator[ssh.SshScheduler]:
    yield adapter(
        own_box, f"{JOBS}/{tmp_path.name}", connect_timeout="2s", start_timeout="8s", settle="8s"
    )
    own_box.fix()


def job_of(script: str, number: int = 1) -> Submission:
    name = f"tiny-{number}"
    return Submission(name, ("sh", "-c", script), ".", {"HERORUN_INSTANCE": name}, ())


def start_job(scheduler: ssh.SshScheduler, script: str, number: int = 1) -> Job:
    return scheduler.submit(job_of(script, number), "/root", f"/admissions/{number}.json")


def find_job(scheduler: ssh.SshScheduler, name: str = "tiny-1") -> Job:
    answer = scheduler.find(name, long_ago())
    assert isinstance(answer, Found), answer
    return answer.job


def wait_for_end(scheduler: ssh.SshScheduler, name: str = "tiny-1") -> Job:
    eventually(lambda: find_job(scheduler, name).state.is_final, 20)
    return find_job(scheduler, name)


def test_a_cut_link_leaves_everything_unsure_and_the_job_alone(
    own_box: Box, scheduler: ssh.SshScheduler
) -> None:
    start_job(scheduler, "sleep 4; echo done")
    own_box.cut()
    began = time.monotonic()
    for answer in scheduler.find_all({"tiny-1": long_ago(), "tiny-2": long_ago()}).values():
        assert isinstance(answer, Unknown) and "Try again" in answer.why
    for look in (
        lambda: scheduler.live_jobs("tiny"),
        lambda: scheduler.tail("tiny-1", 5),
        lambda: scheduler.stop("tiny-1", "ada@box"),
    ):
        with pytest.raises(CouldNotLook, match=f"{own_box.name} .*Try again"):
            look()
    assert time.monotonic() - began < 60
    own_box.fix()
    assert wait_for_end(scheduler).state is JobState.SUCCEEDED
    assert scheduler.tail("tiny-1", 5) == "done\n"


def test_a_link_that_is_cut_while_it_submits_starts_the_job_once(
    own_box: Box, scheduler: ssh.SshScheduler
) -> None:
    cutting = threading.Timer(0.3, own_box.cut)
    cutting.start()
    with contextlib.suppress(CouldNotLook):  # or it was quicker than the cut
        start_job(scheduler, "echo ran >> ran; pwd")
    cutting.join()
    own_box.fix()
    eventually(lambda: not isinstance(scheduler.find("tiny-1", long_ago()), Unknown), 30)
    assert start_job(scheduler, "echo ran >> ran; pwd").state is not JobState.PENDING
    assert wait_for_end(scheduler).state is JobState.SUCCEEDED
    assert own_box.ssh("cat /root/ran; rm /root/ran").stdout == "ran\n"


def test_a_job_that_the_kernel_killed_for_memory_is_out_of_memory(
    own_box: Box, scheduler: ssh.SshScheduler
) -> None:
    if own_box._cgroup is None:
        pytest.skip("this machine's memory cgroups cannot be limited from here")
    eats = "import sys; kept = []\nwhile True: kept.append(bytearray(1 << 24))"
    start_job(scheduler, f"exec python3 -c {shlex.quote(eats)}")
    job = wait_for_end(scheduler)
    assert (job.state, job.signal) == (JobState.OUT_OF_MEMORY, "SIGKILL")
    assert mentions(job.reason, "1 process", "lack")
    start_job(scheduler, "kill -9 $$", 2)
    # killed, and nothing says that memory was why
    assert wait_for_end(scheduler, "tiny-2").state is JobState.FAILED


@pytest.fixture
def full(own_box: Box) -> Iterator[str]:
    """The words that fill the box's disk; it is empty again afterwards."""
    yield "cat /dev/zero > /root/filler 2>/dev/null; true"
    own_box.ssh("rm -f /root/filler")


@pytest.mark.parametrize("trouble", ["read-only", "full", "a file"])
def test_a_folder_without_room_for_jobs_is_known_before_a_submission(
    own_box: Box, tmp_path: Path, trouble: str
) -> None:
    disk = f"/root/{tmp_path.name}"
    scheduler = adapter(own_box, f"{disk}/jobs")
    mount = f"mkdir {disk}; mount -t tmpfs -o size=2m none {disk}"
    own_box.ssh(mount)
    try:
        assert scheduler.review(a_plan(), "tiny").refused == ()
        assert [part.status for part in scheduler.examine()] == [Fit.OK]

        own_box.ssh(
            {
                "read-only": f"mount -o remount,ro {disk}",
                "full": f"head -c 1500000 /dev/zero > {disk}/x",
                "a file": f"touch {disk}/jobs",
            }[trouble]
        )

        (refusal,) = scheduler.review(a_plan(), "tiny").refused
        (part,) = scheduler.examine()
        assert mentions(refusal, f"{disk}/jobs", disk) and part.status is Fit.FAILED
        assert mentions(part.name, f"{disk}/jobs") and mentions(part.message, disk)
    finally:
        own_box.ssh(f"umount {disk}")


def test_a_full_disk_at_the_submission_is_reported_and_nothing_starts(
    own_box: Box, scheduler: ssh.SshScheduler, full: str
) -> None:
    own_box.ssh(full)
    with pytest.raises(HerorunError, match=r"space.*device"):
        start_job(scheduler, "echo ran")
    assert scheduler.find("tiny-1", long_ago()) == Absent()
    own_box.ssh("rm /root/filler")
    start_job(scheduler, "echo ran")
    assert wait_for_end(scheduler).state is JobState.SUCCEEDED


def test_a_disk_that_filled_up_hides_no_end(
    own_box: Box, scheduler: ssh.SshScheduler, full: str
) -> None:
    start_job(scheduler, f"{full}; exit 3")
    job = wait_for_end(scheduler)
    assert (job.state, job.exit_code) == (JobState.FAILED, 3)
    started_before_it_was_full(own_box, scheduler)


def started_before_it_was_full(own_box: Box, scheduler: ssh.SshScheduler) -> None:
    """What is left to write when it is full has its room already, or is said."""
    own_box.ssh("rm /root/filler")
    start_job(scheduler, "sleep 60", 2)
    own_box.ssh("cat /dev/zero > /root/filler 2>/dev/null; true")
    with pytest.raises(CouldNotLook, match=r"tiny-2.*full"):
        scheduler.stop("tiny-2", "ada@box")
    own_box.ssh("rm /root/filler")
    scheduler.stop("tiny-2", "ada@box")
    assert wait_for_end(scheduler, "tiny-2").stopped_by == "ada@box"


def test_a_box_that_was_off_is_unsure_and_once_it_is_on_again_its_job_has_lost_its_node(
    own_box: Box, scheduler: ssh.SshScheduler
) -> None:
    start_job(scheduler, "sleep 60")
    start_job(scheduler, "exit 0", 2)
    wait_for_end(scheduler, "tiny-2")
    start_job(scheduler, "sleep 60", 3)
    scheduler.stop("tiny-3", "ada@box")
    wait_for_end(scheduler, "tiny-3")
    own_box.off()
    assert isinstance(scheduler.find("tiny-1", long_ago()), Unknown)
    own_box.fix()
    own_box.on()
    job = find_job(scheduler)
    assert (job.state, job.raw, job.has_crashed) == (JobState.NODE_FAILED, "restarted", True)
    assert mentions(job.reason, "restarted", "while")
    assert find_job(scheduler, "tiny-2").state is JobState.SUCCEEDED
    assert find_job(scheduler, "tiny-3").state is JobState.CANCELLED
    assert scheduler.live_jobs("tiny") == ()
