"""The local scheduler, with real processes."""

import contextlib
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from herorun.core.errors import CouldNotLook, HerorunError, WrongUse
from herorun.core.evidence import JobState
from herorun.core.ports import Absent, Place, Unknown
from herorun.schedulers import _job_records, _processes, _start, _supervisor, local
from herorun.schedulers._instance import (
    NEVER_RAN,
    NO_RECORD,
    Folder,
    InstanceExit,
    InstanceSnapshot,
    StartedProcess,
    decode_record,
    judge_instance,
)
from herorun.system.files import is_locked
from ports.scheduler_suite import WEIRD, ReadsLogsOn, Rig, SchedulerSuite, long_ago

AT = datetime(2026, 11, 21, 12, tzinfo=UTC)
WAITS = "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done"


def adapter(state: Path, **options: str) -> local.Local:
    return local.connect(local.Options(**options), Place("tiny", str(state), "/out", "/repository"))


def eventually(true: Callable[[], object], within: float = 60.0) -> None:
    until = time.monotonic() + within
    while not true():
        assert time.monotonic() < until, "it did not come about in time"
        time.sleep(0.01)


def in_a_process(act: Callable[[], object]) -> int:
    """Run it in a process of its own: exit code 0 if it returned, 1 if it raised."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.setpgid(0, 0)
        act()
        code = 0
    finally:
        os._exit(code)


def exit_code(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def start_record(jobs: Path, name: str = "tiny-1") -> StartedProcess:
    """The record of the start; `StartedProcess.lives` is asked of the system."""
    return decode_record(StartedProcess, (jobs / name / "started.json").read_text())


def supervisor_of(pid: int) -> int:
    stat = Path(f"/proc/{pid}/stat").read_text()
    return int(stat.rpartition(")")[2].split()[1])


def alone(jobs: Path) -> None:
    """Wait until the supervisor has left too, a moment after its record."""
    eventually(
        lambda: not is_locked(jobs / "tiny-1.lock") and not is_locked(jobs / "tiny-1" / "watched")
    )


def end_all(jobs: Path) -> None:
    """Kill what a test has left running, and wait until it is gone."""
    for folder in [path for path in jobs.glob("*-*") if path.is_dir()]:
        # no job, or a damaged record
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
            if start_record(jobs, folder.name).lives:
                os.killpg(start_record(jobs, folder.name).pid, signal.SIGKILL)
        eventually(lambda folder=folder: not is_locked(jobs / f"{folder.name}.lock"))


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / WEIRD
    yield folder
    if (folder / "jobs").is_dir():
        end_all(folder / "jobs")


@pytest.fixture
def rig(tmp_path: Path, state: Path) -> Rig:
    code, wall = tmp_path / "code", tmp_path / "wall"
    code.mkdir()
    wall.mkdir()
    (wall / "jobs").write_text("a file where the folder should be")
    return Rig(
        connect=lambda: adapter(state, grace="400ms"),
        blind=lambda: adapter(wall),
        traces=lambda: (path.read_bytes() for path in state.rglob("*") if path.is_file()),
        code=code,
        admission=str(state / "admissions" / "tiny-1.json"),  # nobody else's job has it
    )


@pytest.fixture
def jobs(state: Path) -> Path:
    return state / "jobs"


class TestLocal(SchedulerSuite, ReadsLogsOn):
    """The contract, with a state folder of an awful name."""


# --- how it ended ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGABRT", "SIGFPE", "SIGBUS", "SIGILL"])
def test_a_crash_is_not_a_stop(rig: Rig, name: str) -> None:
    job = rig.run(rig.job(f"ulimit -c 0; kill -{name[3:]} $$"))
    assert (job.state, job.signal, job.exit_code, job.raw) == (JobState.FAILED, name, None, name)
    assert job.has_crashed


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"])
def test_a_signal_that_people_send_is_a_stop_by_hand(rig: Rig, name: str) -> None:
    job = rig.run(rig.job(f"ulimit -c 0; kill -{name[3:]} $$"))
    assert (job.state, job.signal, job.stopped_by) == (JobState.CANCELLED, name, None)


def test_a_signal_without_a_name_is_still_told() -> None:
    assert _supervisor._exit(-40) == {"signal": "signal 40"}


def test_a_missing_program_is_a_failed_job_with_a_reason(rig: Rig) -> None:
    job = rig.submit(rig.job("", argv=("no-such-program", "x")))
    assert (job.state, job.exit_code) == (JobState.FAILED, 127)
    assert "no-such-program" in job.reason and "not found" in job.reason
    assert "no-such-program" in rig.tail("tiny-1")


def test_a_program_that_may_not_be_run_is_a_failed_job_with_a_reason(rig: Rig) -> None:
    (rig.code / "train.sh").write_text("#!/bin/sh\n")
    job = rig.submit(rig.job("", argv=("./train.sh",)))
    assert (job.state, job.exit_code) == (JobState.FAILED, 126)
    assert "./train.sh" in job.reason and "Permission denied" in job.reason


def test_a_missing_working_directory_is_a_failed_job_with_a_reason(rig: Rig, jobs: Path) -> None:
    job = rig.submit(rig.job("exit 0", cwd="not/there"))
    assert (job.state, job.exit_code) == (JobState.FAILED, 126)
    assert f"{rig.code}/not/there" in job.reason
    assert not (jobs / "tiny-1" / "started.json").exists()


def test_a_command_line_that_is_too_long_is_a_failed_job_with_a_reason(rig: Rig) -> None:
    job = rig.submit(rig.job("", argv=("echo", "x" * 200_000)))
    assert (job.state, job.exit_code) == (JobState.FAILED, 126)
    assert "too long" in job.reason


def test_an_impossible_argument_is_a_failed_job_with_a_reason(rig: Rig) -> None:
    assert "null byte" in rig.submit(rig.job("", argv=("echo", "a\0b"))).reason


def test_the_record_is_tried_again_while_the_disk_is_full(tmp_path: Path, monkeypatch) -> None:
    obstacle = tmp_path / ".exit.json.new"
    obstacle.mkdir()
    monkeypatch.setattr(_job_records.time, "sleep", lambda _: obstacle.rmdir())
    _job_records.write_end(str(tmp_path), {"exit_code": 0})
    assert json.loads((tmp_path / "exit.json").read_text()) == {"exit_code": 0}


# --- stop -----------------------------------------------------------------------------------------


def test_a_job_that_exits_cleanly_when_told_to_is_cancelled(rig: Rig) -> None:
    rig.submit(rig.job(WAITS))
    eventually(lambda: "up" in rig.tail("tiny-1"))
    rig.connect().stop("tiny-1", "ada@box")
    job = rig.wait_for_end("tiny-1")
    assert (job.state, job.exit_code, job.stopped_by) == (JobState.CANCELLED, 0, "ada@box")
    assert rig.tail("tiny-1", 2).endswith("bye\n")


def test_a_job_that_ignores_sigterm_is_killed_after_the_grace(rig: Rig) -> None:
    rig.submit(rig.job("trap '' TERM; echo up; while :; do sleep 0.05; done"))
    eventually(lambda: "up" in rig.tail("tiny-1"))
    began = time.monotonic()
    rig.connect().stop("tiny-1", "ada@box")
    job = rig.wait_for_end("tiny-1")
    assert (job.state, job.signal, job.stopped_by) == (JobState.CANCELLED, "SIGKILL", "ada@box")
    assert time.monotonic() - began >= 0.4


def test_the_first_who_asked_is_the_one_who_stopped_it(rig: Rig) -> None:
    rig.submit(rig.job("trap '' TERM; echo up; while :; do sleep 0.05; done"))
    eventually(lambda: "up" in rig.tail("tiny-1"))
    rig.connect().stop("tiny-1", "ada@box")
    rig.connect().stop("tiny-1", "bob@box")
    assert rig.wait_for_end("tiny-1").stopped_by == "ada@box"


def test_a_job_that_had_ended_when_the_request_came_is_not_cancelled(rig: Rig, jobs: Path) -> None:
    # what is left in the group keeps the supervisor waiting
    rig.submit(rig.job("sleep 30 & exit 0"))
    eventually(lambda: "main process has ended" in rig.tail("tiny-1"))
    rig.connect().stop("tiny-1", "ada@box")
    assert (jobs / "tiny-1" / "stop.json").exists()
    assert rig.wait_for_end("tiny-1").state is JobState.SUCCEEDED


# --- what a job leaves behind ---------------------------------------------------------------------


def test_what_is_left_in_the_process_group_does_not_outlive_the_grace(rig: Rig) -> None:
    job = rig.run(rig.job("sleep 30 & echo $!; exit 3"))
    assert (job.state, job.exit_code, job.reason) == (JobState.FAILED, 3, "")
    eventually(lambda: not _processes.start_time(int(rig.tail("tiny-1").split()[0])))


# Starts a worker as torch elastic does: in a session of its own, with no descriptor of ours.
LAUNCHER = """
import os, signal, subprocess, sys, time
worker = subprocess.Popen(sys.argv[2:], start_new_session=True, close_fds=True, stdout=subprocess.PIPE)
worker.stdout.readline()
print(worker.pid, flush=True)
if sys.argv[1] != "0":
    os.kill(os.getpid(), int(sys.argv[1]))
"""  # noqa: E501  # a text that is read as it stands
WORKER = "trap '%s' TERM; echo up; while :; do sleep 0.05; done"


@pytest.fixture
def workers() -> Iterator[list[tuple[int, str]]]:
    """The number and the start time of each worker; none outlives its test."""
    processes: list[tuple[int, str]] = []
    yield processes
    for pid, start in processes:
        if _processes.start_time(pid) == start:
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def launch_and_signal(rig: Rig, workers: list[tuple[int, str]]) -> Callable[..., int]:
    """Submit a launcher that starts a worker and then signals itself (0: it ends); the worker's
    number.
    """

    def launch(
        worker: str, number: int = signal.SIGKILL, *before: str, grace: str = "400ms"
    ) -> int:
        argv = (sys.executable, "-c", LAUNCHER, str(int(number)), *before, "sh", "-c", worker)
        scheduler = adapter(Path(rig.admission).parents[1], grace=grace)
        scheduler.submit(rig.job("", argv=argv), str(rig.code), rig.admission)
        eventually(lambda: rig.tail("tiny-1", 1).endswith("\n"))
        pid = int(rig.tail("tiny-1").split()[0])
        workers.append((pid, _processes.start_time(pid)))
        return pid

    return launch


def test_workers_in_a_session_of_their_own_are_ended_before_the_job_is(
    rig: Rig, launch_and_signal
) -> None:
    worker = launch_and_signal(WORKER % "echo told > told; exit 0")
    assert rig.now("tiny-1").state is JobState.RUNNING
    job = rig.wait_for_end("tiny-1")
    assert (job.state, job.signal) == (JobState.FAILED, "SIGKILL")
    assert not _processes.start_time(worker), "two trainers after a relaunch"
    assert (rig.code / "told").exists()


def test_workers_that_ignore_sigterm_are_killed(rig: Rig, launch_and_signal) -> None:
    worker = launch_and_signal(WORKER % "")
    assert rig.wait_for_end("tiny-1").signal == "SIGKILL"
    assert not _processes.start_time(worker)


def test_a_worker_without_its_environment_is_still_the_jobs(rig: Rig, launch_and_signal) -> None:
    worker = launch_and_signal(
        WORKER % "exit 0", signal.SIGKILL, "env", "-i", f"PATH={os.environ['PATH']}"
    )
    rig.wait_for_end("tiny-1")
    assert not _processes.start_time(worker)


def test_workers_that_end_by_themselves_are_waited_for_and_not_signalled(
    rig: Rig, launch_and_signal
) -> None:
    launch_and_signal(
        "trap 'echo told > told' TERM; echo up; sleep 0.2; echo saved > saved", 0, grace="5s"
    )
    assert rig.wait_for_end("tiny-1").state is JobState.SUCCEEDED
    assert (rig.code / "saved").exists() and not (rig.code / "told").exists()


SLOW_TO_END = f"""
import os, sys, time
sys.path.insert(0, {str(Path(_supervisor.__file__).parents[2])!r})
from herorun.schedulers import _supervisor
end = os._exit
os._exit = lambda code: time.sleep(0.5) or end(code)
_supervisor.main()
"""


def test_the_process_that_the_supervisor_comes_from_is_none_of_the_jobs(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine it ends after a short job does."""
    script = tmp_path / "slow.py"
    script.write_text(SLOW_TO_END)
    monkeypatch.setattr(_start, "_supervisor", SimpleNamespace(__file__=str(script)))
    rig.submit(rig.job("exit 0"))
    assert rig.wait_for_end("tiny-1").state is JobState.SUCCEEDED
    assert rig.tail("tiny-1") == ""


def test_a_stop_does_not_wait_for_what_is_left(rig: Rig, launch_and_signal) -> None:
    launch_and_signal(WORKER % "exit 0", 0, grace="20s")
    eventually(lambda: "main process has ended" in rig.tail("tiny-1"))
    rig.connect().stop("tiny-1", "ada@box")
    assert rig.wait_for_end("tiny-1").state is JobState.SUCCEEDED


def test_workers_without_supervisor_and_launcher_are_a_live_job_that_can_be_stopped(
    rig: Rig, jobs: Path, launch_and_signal
) -> None:
    worker = launch_and_signal(WORKER % "", signal.SIGSTOP)
    pid = start_record(jobs).pid
    os.kill(supervisor_of(pid), signal.SIGKILL)
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: not is_locked(jobs / "tiny-1.lock"))
    job = rig.now("tiny-1")
    assert (job.state, str(worker) in job.reason) == (JobState.RUNNING, True)
    assert [job.instance for job in rig.connect().live_jobs("tiny")] == ["tiny-1"]
    rig.connect().stop("tiny-1", "ada@box")
    assert rig.now("tiny-1").state is JobState.CANCELLED
    assert not _processes.start_time(worker)


@pytest.mark.parametrize("other", ["HERORUN_INSTANCE", "HERORUN_ADMISSION"])
def test_a_process_of_another_instance_or_run_is_left_alone(
    rig: Rig, jobs: Path, other: str
) -> None:
    env = {"HERORUN_INSTANCE": "tiny-1", "HERORUN_ADMISSION": rig.admission, other: "tiny-11"}
    with subprocess.Popen(
        ["sleep", "30"], env={**os.environ, **env}, start_new_session=True
    ) as stranger:
        try:
            rig.run(rig.job("exit 0"))
            alone(jobs)
            (jobs / "tiny-1" / "exit.json").unlink()
            assert rig.now("tiny-1").state is JobState.FAILED
            assert stranger.poll() is None
        finally:
            stranger.kill()


def test_what_cannot_be_killed_keeps_the_job_running_with_a_reason(
    monkeypatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(_processes, "LAST_WAIT", 0.0)
    looks = [{_processes.Process(4711, 1, 1, 1)}] * 3
    order = {
        "folder": str(tmp_path),
        "grace": 0.0,
        "request": {"instance": "tiny-1", "admission": "a"},
    }
    monkeypatch.setattr(_supervisor, "processes_of", lambda *_: looks.pop() if looks else set())
    _supervisor._end_the_rest(-1, order, time.monotonic())
    reason = json.loads((tmp_path / "stuck.json").read_text())["reason"]
    assert "4711" in reason
    job = judge_instance(
        "tiny-1", InstanceSnapshot(alive=True, watched=True, started=STARTED_PROCESS, stuck=reason)
    )
    assert (job.state, job.reason) == (JobState.RUNNING, reason)


def test_a_number_that_was_given_again_is_not_signalled() -> None:
    with subprocess.Popen(["sleep", "30"]) as stranger:
        try:
            assert not _processes._send(_processes.Process(stranger.pid, 0, 0, 1), signal.SIGKILL)
            assert stranger.poll() is None
        finally:
            stranger.kill()


def test_adopted_orphans_do_not_pile_up(rig: Rig, jobs: Path) -> None:
    rig.submit(
        rig.job(
            "for i in 1 2 3; do (sh -c 'exit 0' & :); done; until test -e go; do sleep 0.02; done"
        )
    )
    pid = start_record(jobs).pid
    children = Path(f"/proc/{supervisor_of(pid)}/task/{supervisor_of(pid)}/children")
    eventually(lambda: children.read_text().split() == [str(pid)])
    (rig.code / "go").touch()
    assert rig.wait_for_end("tiny-1").state is JobState.SUCCEEDED


# --- deaths of the others -------------------------------------------------------------------------


def test_the_job_outlives_its_supervisor_and_ends_without_a_record(rig: Rig, jobs: Path) -> None:
    rig.submit(rig.job("until test -e go; do sleep 0.02; done"))
    os.kill(supervisor_of(start_record(jobs).pid), signal.SIGKILL)
    eventually(lambda: "supervisor is gone" in rig.now("tiny-1").reason)
    assert rig.now("tiny-1").state is JobState.RUNNING
    assert [job.instance for job in rig.connect().live_jobs("tiny")] == ["tiny-1"]
    (rig.code / "go").touch()
    job = rig.wait_for_end("tiny-1")
    assert (job.state, job.reason, job.exit_code) == (JobState.FAILED, NO_RECORD, None)


def test_a_job_without_supervisor_can_be_stopped(rig: Rig, jobs: Path) -> None:
    rig.submit(rig.job("trap '' TERM; while :; do sleep 0.05; done"))
    os.kill(supervisor_of(start_record(jobs).pid), signal.SIGKILL)
    eventually(lambda: "supervisor is gone" in rig.now("tiny-1").reason)
    rig.connect().stop("tiny-1", "ada@box")
    job = rig.wait_for_end("tiny-1")
    assert (job.state, job.stopped_by, job.reason) == (JobState.CANCELLED, "ada@box", NO_RECORD)


def test_a_process_that_is_not_ours_is_never_signalled(rig: Rig, jobs: Path) -> None:
    with subprocess.Popen(["sleep", "30"], start_new_session=True) as stranger:
        try:
            rig.run(rig.job("exit 0"))
            alone(jobs)
            folder = Folder(jobs, "tiny-1")
            (folder.path / "exit.json").unlink()
            later = {"pid": stranger.pid, "birth": "another boot 1", "at": "2026-11-21T12:00:00Z"}
            (folder.path / "started.json").write_text(json.dumps(later))
            with folder.lock.open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                with pytest.raises(CouldNotLook, match="fuser"):
                    rig.connect().stop("tiny-1", "ada@box")
            assert stranger.poll() is None
        finally:
            stranger.kill()


def test_supervisor_and_job_killed_is_a_failed_job(rig: Rig, jobs: Path) -> None:
    rig.submit(rig.job("sleep 30"))
    pid = start_record(jobs).pid
    os.kill(supervisor_of(pid), signal.SIGKILL)
    os.killpg(pid, signal.SIGKILL)
    job = rig.wait_for_end("tiny-1")
    assert (job.state, job.reason) == (JobState.FAILED, NO_RECORD)
    rig.connect().stop("tiny-1", "ada@box")
    assert rig.now("tiny-1") == job


def test_a_claim_without_a_start_is_a_failed_job(rig: Rig, jobs: Path) -> None:
    (jobs / "tiny-1").mkdir(parents=True)
    job = rig.submit(rig.job("exit 0"))
    assert (job.state, job.reason) == (JobState.FAILED, NEVER_RAN)


def test_sigterm_to_the_supervisor_leaves_the_job_and_the_record_alone(
    rig: Rig, jobs: Path
) -> None:
    rig.submit(rig.job("until test -e go; do sleep 0.02; done; exit 5"))
    os.kill(supervisor_of(start_record(jobs).pid), signal.SIGTERM)
    (rig.code / "go").touch()
    assert rig.wait_for_end("tiny-1").exit_code == 5


@pytest.mark.thorough
def test_a_submitter_killed_at_any_moment_leaves_at_most_one_job(rig: Rig) -> None:
    submissions = [rig.job(f"echo {n} >> ran", number=n) for n in range(1, 13)]
    for n, submission in enumerate(submissions):
        pid = in_a_process(lambda submission=submission: rig.submit(submission))
        time.sleep(0.004 * n)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        rig.submit(submission)
    assert {rig.wait_for_end(s.instance).state for s in submissions} == {JobState.SUCCEEDED}
    ran = (rig.code / "ran").read_text().split()
    assert sorted(ran, key=int) == [str(n) for n in range(1, 13)]


def test_many_submitters_at_once_start_one_job(rig: Rig) -> None:
    submission = rig.job("echo ran >> ran; sleep 0.2")
    gate, door = os.pipe()

    def submit() -> None:
        os.close(door)
        os.read(gate, 1)  # returns when the last copy of the other end is closed
        assert rig.submit(submission).instance == "tiny-1"

    racers = [in_a_process(submit) for _ in range(6)]
    os.close(gate)
    os.close(door)
    assert [exit_code(pid) for pid in racers] == [0] * 6
    assert rig.wait_for_end("tiny-1").state is JobState.SUCCEEDED
    assert (rig.code / "ran").read_text() == "ran\n"


def test_half_an_order_starts_nothing(jobs: Path) -> None:
    jobs.mkdir(parents=True)
    order = json.dumps(
        {"folder": str(jobs / "tiny-1"), "argv": ["true"], "cwd": "/", "request": {}}
    )
    command = [sys.executable, "-I", "-S", "-X", "utf8", _supervisor.__file__]
    process = subprocess.run(command, input=order[:-1].encode(), capture_output=True, check=False)
    assert process.returncode != 0
    assert list(jobs.iterdir()) == []


def test_a_second_supervisor_of_one_instance_leaves_at_once(jobs: Path) -> None:
    (jobs / "tiny-1").mkdir(parents=True)
    command = [sys.executable, "-I", "-S", "-X", "utf8", _supervisor.__file__]
    order = json.dumps({"folder": str(jobs / "tiny-1")}).encode()
    subprocess.run(command, input=order, check=True)
    assert list((jobs / "tiny-1").iterdir()) == []


def test_a_supervisor_that_cannot_begin_says_why(rig: Rig, jobs: Path, monkeypatch) -> None:
    monkeypatch.setattr(_supervisor, "__file__", str(jobs / "gone.py"))
    with pytest.raises(HerorunError, match=r"tiny-1.*started.*gone\.py"):
        rig.submit(rig.job("exit 0"))
    assert rig.connect().find("tiny-1", long_ago()) == Absent()


# --- the job's surroundings -----------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_signal_to_the_submitters_process_group_is_not_the_jobs(rig: Rig, number: int) -> None:
    ready, pipe = os.pipe()

    def submit_and_wait() -> None:
        rig.submit(rig.job("sleep 0.1; echo done"))
        os.write(pipe, b".")
        time.sleep(30)

    pid = in_a_process(submit_and_wait)
    os.read(ready, 1)
    os.killpg(pid, number)
    assert exit_code(pid) != 0
    assert rig.wait_for_end("tiny-1").state is JobState.SUCCEEDED
    os.close(ready)
    os.close(pipe)


def test_the_submitter_gets_no_child_to_reap(rig: Rig) -> None:
    def submit() -> None:
        rig.submit(rig.job("sleep 0.2"))
        with pytest.raises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)

    assert exit_code(in_a_process(submit)) == 0


def test_a_submitter_that_ignores_signals_does_not_pass_that_on(rig: Rig) -> None:
    def submit() -> None:
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        rig.submit(rig.job("", argv=("grep", "-E", "Sig(Ign|Blk)", "/proc/self/status")))
        rig.submit(rig.job("exit 3", number=2))

    assert exit_code(in_a_process(submit)) == 0
    assert rig.wait_for_end("tiny-2").exit_code == 3
    rig.wait_for_end("tiny-1")
    libc_own = 0b11 << 31  # signals 32 and 33: nobody can set them, and make's children ignore them
    assert [int(word, 16) & ~libc_own for word in rig.tail("tiny-1").split()[1::2]] == [0, 0]


def test_the_job_leads_a_session_and_has_no_input(rig: Rig) -> None:
    code = (
        "import os; print(os.getsid(0) == os.getpgrp() == os.getpid(), "
        "os.readlink('/proc/self/fd/0'))"
    )
    rig.run(rig.job("", argv=(sys.executable, "-c", code)))
    assert rig.tail("tiny-1") == "True /dev/null\n"


def test_the_supervisor_keeps_no_folder_busy(rig: Rig, jobs: Path) -> None:
    rig.submit(rig.job("sleep 30"))
    assert os.readlink(f"/proc/{supervisor_of(start_record(jobs).pid)}/cwd") == "/"


@pytest.mark.thorough
def test_a_submitter_in_a_plain_locale_passes_every_byte_on(rig: Rig, state: Path) -> None:
    script = (
        "import sys; sys.path[:0] = ['src', 'tests']\n"
        "from schedulers.test_local import *\n"
        "from herorun.core.ports import Submission\n"
        "submission = Submission('tiny-1', ('printf', '%s', sys.argv[3]), '.', {}, ())\n"
        "adapter(Path(sys.argv[1])).submit(submission, sys.argv[2], '')"
    )
    plain = {
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PATH": os.environ["PATH"],
    }
    root = Path(__file__).parents[2]
    argv = [sys.executable, "-c", script, str(state), str(rig.code), WEIRD]
    subprocess.run(argv, cwd=root, env=plain, check=True)
    rig.wait_for_end("tiny-1")
    assert rig.tail("tiny-1") == WEIRD


def test_a_dead_process_that_nobody_has_reaped_is_dead() -> None:
    pid = in_a_process(lambda: None)  # it leads a process group of its own
    try:
        eventually(lambda: not _processes.start_time(pid))
        assert not _processes.processes_of(frozenset(), group=pid)
    finally:
        os.waitpid(pid, 0)
    assert _processes.start_time(os.getpid()) == _processes.start_time(os.getpid()) != ""


def test_the_job_inherits_the_lock_and_no_other_descriptor(
    rig: Rig, jobs: Path, tmp_path: Path
) -> None:
    open_here = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(open_here, True)
    try:
        rig.run(rig.job("", argv=("find", "/proc/self/fd", "-type", "l", "-printf", "%f=%l\\0")))
    finally:
        os.close(open_here)
    links = dict(part.split("=", 1) for part in rig.tail("tiny-1").split("\0") if part)
    others = sorted(
        to for number, to in links.items() if int(number) > 2 and not to.startswith("/proc/")
    )
    assert [to for to in others if to != os.getcwd() and to != str(rig.code)] == [
        str(jobs / "tiny-1.lock")
    ]


def test_what_nobody_planned_is_not_inherited(rig: Rig, monkeypatch) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    monkeypatch.setenv("XLA_FLAGS", "--of-this-shell")
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("GIT_TOKEN_OF_MINE", "x")
    monkeypatch.setenv("HERORUN_START", "/old/step-7")
    monkeypatch.setenv("ORDINARY", "new")
    script = (
        "echo "
        '"${GIT_DIR-}|${HERORUN_START-}|${XLA_FLAGS-}|${ORDINARY-}|$PYTHONUNBUFFERED|${GIT_TOKEN_OF_MINE-}|$PLANNED"'
    )
    rig.run(rig.job(script, secrets=("GIT_TOKEN_OF_MINE",), env={"PLANNED": "p"}))
    assert rig.tail("tiny-1") == "||||1|x|p\n"


SHOW = (
    "echo "
    '"$PATH|${VIRTUAL_ENV-}|${PYTHONPATH-}|${OMP_NUM_THREADS-}|${https_proxy-}|${HERORUN_UNATTENDED-}"'
)


def test_a_relaunch_gets_the_environment_of_the_launch(rig: Rig, jobs: Path, monkeypatch) -> None:
    ours = f"{rig.code}:{os.environ['PATH']}"
    monkeypatch.setenv("PATH", ours)
    monkeypatch.setenv("VIRTUAL_ENV", "/venv")
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    monkeypatch.setenv("https_proxy", "http://ada:secret-1234@proxy:3128")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    rig.run(rig.job(SHOW))
    monkeypatch.setenv("HERORUN_UNATTENDED", "1")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.delenv("VIRTUAL_ENV")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    rig.run(rig.job(SHOW, number=2, env={"OMP_NUM_THREADS": "8"}))
    rig.run(rig.job(SHOW, number=3, env={"OMP_NUM_THREADS": "8"}))
    assert "secret-1234" not in (jobs / "environment.json").read_text()
    line = f"{ours}|/venv||8|http://ada:secret-1234@proxy:3128|\n"
    assert rig.tail("tiny-2") == rig.tail("tiny-3") == line


def test_a_later_launch_by_hand_is_the_one_that_counts(rig: Rig, monkeypatch) -> None:
    rig.run(rig.job(SHOW))
    monkeypatch.setenv("VIRTUAL_ENV", "/newer")
    rig.run(rig.job(SHOW, number=2))
    monkeypatch.setenv("HERORUN_UNATTENDED", "1")
    monkeypatch.setenv("VIRTUAL_ENV", "/crons")
    rig.run(rig.job(SHOW, number=3))
    assert "|/newer|" in rig.tail("tiny-3")


def test_an_unattended_launch_without_a_record_inherits(rig: Rig, monkeypatch) -> None:
    monkeypatch.setenv("HERORUN_UNATTENDED", "1")
    monkeypatch.setenv("VIRTUAL_ENV", "/crons")
    rig.run(rig.job(SHOW))
    assert "|/crons|" in rig.tail("tiny-1")


def test_no_secret_is_written_down_with_the_environment(rig: Rig, jobs: Path, monkeypatch) -> None:
    for name in ("CONDA_TOKEN", "CUDA_API_KEY", "LC_PASSWORD", "OTHER", "CONDA_MINE"):
        monkeypatch.setenv(name, "correct-horse")
    rig.run(rig.job("exit 0", secrets=("CONDA_MINE",)))
    path = jobs / "environment.json"
    assert "correct-horse" not in path.read_text()
    assert "PATH" in json.loads(path.read_text())
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_damaged_record_of_the_environment_is_reported(rig: Rig, jobs: Path, monkeypatch) -> None:
    rig.run(rig.job("exit 0"))
    (jobs / "environment.json").write_text("{")
    monkeypatch.setenv("HERORUN_UNATTENDED", "1")
    with pytest.raises(CouldNotLook, match=r"environment\.json"):
        rig.submit(rig.job("exit 0", number=2))
    assert rig.connect().find("tiny-2", long_ago()) == Absent()


def test_the_job_knows_its_main_process(rig: Rig, jobs: Path, monkeypatch) -> None:
    monkeypatch.setenv("HERORUN_MAIN_PID", "1")
    rig.run(rig.job('echo "$HERORUN_MAIN_PID $$"'))
    pid = start_record(jobs).pid
    assert rig.tail("tiny-1") == f"{pid} {pid}\n"


def test_the_submission_has_the_last_word_on_plain_values(rig: Rig, monkeypatch) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", "outer")
    rig.run(rig.job('echo "[$PYTHONUNBUFFERED]"', env={"PYTHONUNBUFFERED": ""}))
    assert rig.tail("tiny-1") == "[]\n"


@pytest.mark.thorough
def test_a_huge_environment_travels(rig: Rig) -> None:
    env = {f"BIG_{n}": "x" * 100_000 for n in range(10)}
    rig.run(rig.job("echo ${#BIG_9}", env=env))
    assert rig.tail("tiny-1") == "100000\n"


def test_an_environment_that_no_process_can_have_is_refused(rig: Rig) -> None:
    with pytest.raises(HerorunError, match=r"tiny-1.*Argument"):
        rig.submit(rig.job("exit 0", env={"BIG": "x" * 300_000}))
    assert rig.connect().find("tiny-1", long_ago()) == Absent()


def test_the_requests_and_logs_are_private(rig: Rig, jobs: Path) -> None:
    rig.run(rig.job("exit 0"))
    modes = {path.stat().st_mode & 0o777 for path in [jobs, jobs / "tiny-1"]}
    files = {path.stat().st_mode & 0o777 for path in jobs.rglob("*") if path.is_file()}
    assert (modes, files) == ({0o700}, {0o600})


def test_the_request_is_kept(rig: Rig, jobs: Path) -> None:
    rig.run(rig.job("exit 0"))
    document = json.loads((jobs / "tiny-1" / "request.json").read_text())
    assert document["argv"] == ["sh", "-c", "exit 0"]
    assert (document["code"], document["host"]) == (str(rig.code), socket.gethostname())


# --- looking --------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["", "{", "[]", '{"exit_code": "x"}', "\udcff"])
@pytest.mark.parametrize("name", ["exit.json", "started.json"])
def test_a_damaged_record_is_not_an_answer(rig: Rig, jobs: Path, name: str, content: str) -> None:
    rig.connect()
    (jobs / "tiny-1").mkdir(parents=True)
    (jobs / "tiny-1" / name).write_text(content, errors="surrogateescape")
    scheduler = rig.connect()
    search = scheduler.find("tiny-1", long_ago())
    assert isinstance(search, Unknown) and name in search.why
    for look in (lambda: scheduler.live_jobs("tiny"), lambda: scheduler.stop("tiny-1", "ada@box")):
        with pytest.raises(CouldNotLook, match=name):
            look()


def test_a_submission_that_is_under_way_is_live_but_not_yet_found(rig: Rig, jobs: Path) -> None:
    jobs.mkdir(parents=True)
    with (jobs / "tiny-1.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert isinstance(rig.connect().find("tiny-1", long_ago()), Unknown)
        assert [job.state for job in rig.connect().live_jobs("tiny")] == [JobState.PENDING]
        with pytest.raises(CouldNotLook, match="again"):
            rig.connect().stop("tiny-1", "ada@box")
    assert rig.connect().find("tiny-1", long_ago()) == Absent()


def test_a_start_that_takes_too_long_is_reported(rig: Rig, state: Path, jobs: Path) -> None:
    jobs.mkdir(parents=True)
    with (jobs / "tiny-1.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(CouldNotLook, match=r"within 0\.1s"):
            adapter(state, start_timeout="100ms").submit(rig.job("exit 0"), str(rig.code), "")


def test_a_job_of_another_machine_without_a_record_is_not_judged_here(rig: Rig, jobs: Path) -> None:
    rig.run(rig.job("exit 0"))
    alone(jobs)
    (jobs / "tiny-1" / "exit.json").unlink()
    request = json.loads((jobs / "tiny-1" / "request.json").read_text())
    (jobs / "tiny-1" / "request.json").write_text(json.dumps({**request, "host": "login2"}))
    search = rig.connect().find("tiny-1", long_ago())
    assert isinstance(search, Unknown) and "login2" in search.why
    why = search.why[search.why.index("{") : search.why.index("}") + 1]
    (jobs / "tiny-1" / "exit.json").write_text(why)
    assert rig.now("tiny-1").has_crashed


def test_a_log_of_any_size_is_read_from_its_end(rig: Rig, jobs: Path) -> None:
    rig.run(rig.job("exit 0"))
    with (jobs / "tiny-1" / "job.log").open("wb") as log:
        log.truncate(2**33)  # sparse
        log.seek(0, os.SEEK_END)
        log.write(b"\nlast but one\nlast, unfinished")
    assert rig.tail("tiny-1", 2) == "last but one\nlast, unfinished"
    assert len(rig.tail("tiny-1", 3)) < 2**21
    assert rig.tail("tiny-1", 0) == ""
    assert rig.connect().log("tiny-1") == str(jobs / "tiny-1" / "job.log")


def test_instances_are_listed_in_the_order_of_their_numbers(rig: Rig) -> None:
    for number in (10, 9):
        rig.submit(rig.job("sleep 30", number=number))
    assert [job.instance for job in rig.connect().live_jobs("tiny")] == ["tiny-9", "tiny-10"]


@pytest.mark.parametrize("name", ["../x-1", "tiny", "tiny-1\n", "Tiny-1", "tiny-1.lock", ""])
def test_a_name_that_is_no_instance_never_becomes_a_path(rig: Rig, name: str) -> None:
    with pytest.raises(WrongUse, match="instance name"):
        rig.connect().find(name, long_ago())


def test_unknown_options_are_refused() -> None:
    with pytest.raises(ValidationError, match="partition"):
        local.Options(partition="gpu")
    assert local.Options().grace == timedelta(seconds=30)


# --- judgement ------------------------------------------------------------------------------------

STARTED_PROCESS = StartedProcess(4711, "boot 1", AT)


@pytest.mark.parametrize(
    ("sight", "state", "raw"),
    [
        (InstanceSnapshot(alive=True, watched=True), JobState.PENDING, "starting"),
        (
            InstanceSnapshot(alive=True, watched=True, started=STARTED_PROCESS),
            JobState.RUNNING,
            "running",
        ),
        (
            InstanceSnapshot(
                alive=True, watched=True, started=STARTED_PROCESS, end=InstanceExit(AT, exit_code=0)
            ),
            JobState.SUCCEEDED,
            "exit 0",
        ),
        (
            InstanceSnapshot(
                alive=False,
                watched=False,
                started=STARTED_PROCESS,
                end=InstanceExit(AT, exit_code=143),
            ),
            JobState.FAILED,
            "exit 143",
        ),
        (
            InstanceSnapshot(
                alive=False,
                watched=False,
                started=STARTED_PROCESS,
                end=InstanceExit(AT, signal="SIGKILL"),
            ),
            JobState.FAILED,
            "SIGKILL",
        ),
        (
            InstanceSnapshot(
                alive=False,
                watched=False,
                started=STARTED_PROCESS,
                end=InstanceExit(AT, signal="SIGKILL", stopped_by="x"),
            ),
            JobState.CANCELLED,
            "SIGKILL",
        ),
        (
            InstanceSnapshot(alive=False, watched=False, started=STARTED_PROCESS),
            JobState.FAILED,
            "no record",
        ),
    ],
)
def test_a_look_is_judged(sight: InstanceSnapshot, state: JobState, raw: str) -> None:
    job = judge_instance("tiny-1", sight)
    assert (job.state, job.raw) == (state, raw)
