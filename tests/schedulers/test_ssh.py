"""The scheduler ssh, on real boxes: OpenSSH, tmux, and links, disks and power that can fail."""

import os
import shlex
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from herorun.core.errors import CouldNotLook, HerorunError, WrongUse
from herorun.core.evidence import Job, JobState
from herorun.core.ports import Absent, Found, Place, Unknown
from herorun.core.remote.target import SshLogin
from herorun.schedulers import ssh
from herorun.system import remote_python
from herorun.system.transport import SshTransport
from ports.scheduler_suite import SECRET, ReadsLogsOn, Rig, SchedulerSuite, SharesLooks, long_ago
from services.boxes import Box
from services.fixtures import skip_or_fail
from services.relay import free_port
from wording import mentions

pytestmark = pytest.mark.back_end

PLACE = Place("tiny", "/state", "/out", "/repository")


def options(box: Box, folder: str, **changes: Any) -> ssh.Options:
    fields = {
        "host": box.name,
        "ssh_config": str(box.config),
        "folder": folder,
        "settle": "20s",
        "grace": "400ms",
    }
    return ssh.Options(
        **{**fields, "code": "shared", "connect_timeout": "5s", "timeout": "5s", **changes}
    )


def adapter(box: Box, folder: str, **changes: Any) -> ssh.SshScheduler:
    return ssh.connect(options(box, folder, **changes), PLACE)


def eventually(true: Callable[[], object], within: float = 60.0) -> None:
    until = time.monotonic() + within
    while not true():
        assert time.monotonic() < until, "it did not come about in time"
        time.sleep(0.05)


def end_all(box: Box, folder: str) -> None:
    """Kill what a test has left running, by its records, and take the folder away."""
    names = (
        f"sed -n 's/.*\"pid\": \\([0-9]*\\).*/\\1/p' {shlex.quote(folder)}/*/*/started.json "
        "2>/dev/null"
    )
    box.ssh(
        f"for pid in $({names}); do kill -9 -$pid 2>/dev/null; done; rm -rf {shlex.quote(folder)}",
        check=False,
    )


@pytest.fixture(scope="module")
def top(one_box: Box) -> Iterator[str]:
    """A folder on the box; what this file has left running in it is ended at once."""
    name = f"{one_box.home}/jobs of this file"
    yield name
    one_box.fix()
    end_all(one_box, name)


@pytest.fixture
def folder(top: str, tmp_path: Path) -> str:
    """The scheduler's folder on the box, of an awful name."""
    return f"{top}/{tmp_path.name} it's"


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder that the box sees under the same path, as on a shared disk: /tmp it has for
    itself.
    """
    with tempfile.TemporaryDirectory(prefix="herorun-", dir="/var/tmp") as base:
        yield Path(base)


@pytest.fixture
def rig(box: Box, folder: str, shared_folder: Path) -> Rig:
    code = shared_folder / "code"
    code.mkdir()

    def traces() -> Iterator[bytes]:
        everything = (
            f"find {shlex.quote(folder)} -type f -exec cat {{}} +; ps -ef; tmux -L herorun "
            "show-environment -g;"
            "tmux -L herorun ls; cat /proc/[0-9]*/cmdline"
        )
        yield box.ssh(f"{everything} 2>/dev/null", check=False).stdout.encode()

    return Rig(
        connect=lambda: adapter(box, folder),
        blind=lambda: adapter(box, folder, port=free_port()),
        traces=traces,
        code=code,
        patience=60,
    )


class TestSsh(SchedulerSuite, ReadsLogsOn, SharesLooks):
    """The contract, on a real box."""


# --- what is sent ---------------------------------------------------------------------------------


def shipping_scheduler(rig: Rig, box: Box, folder: str, **changes: Any) -> ssh.SshScheduler:
    """A scheduler that sends code and admission, and what it sends."""
    (rig.code / "bin").mkdir()
    (rig.code / "bin" / "train").write_text("#!/bin/sh\necho trained in $PWD\n")
    (rig.code / "bin" / "train").chmod(0o755)
    (rig.code / "link").symlink_to("bin/train")
    admission(rig).write_text('{"schema": 1, "code": "/here", "slug": "tiny"}')
    return adapter(box, folder, code="upload", **changes)


def admission(rig: Rig) -> Path:
    return rig.code.parent / "admission.json"


def wait_for_end(scheduler: ssh.SshScheduler, name: str = "tiny-1") -> Job:
    jobs: list[Job] = []

    def over() -> bool:
        answer = scheduler.find(name, long_ago())
        assert isinstance(answer, Found), answer
        jobs[:] = [answer.job]
        return answer.job.state.is_final

    eventually(over, 20)
    return jobs[0]


def test_the_code_and_the_admission_arrive_as_they_are(rig: Rig, box: Box, folder: str) -> None:
    scheduler = shipping_scheduler(rig, box, folder)
    submission = rig.job("", argv=("sh", "-c", './link; ls -l link; cat "$HERORUN_ADMISSION"'))
    assert (
        scheduler.submit(submission, str(rig.code), str(admission(rig))).state
        is not JobState.PENDING
    )
    assert wait_for_end(scheduler).state is JobState.SUCCEEDED
    lines = scheduler.tail("tiny-1", 9).splitlines()
    assert lines[0] == f"trained in {folder}/code/tiny-1"
    assert lines[1].endswith("link -> bin/train")
    assert lines[2] == f'{{"code": "{folder}/code/tiny-1", "schema": 1, "slug": "tiny"}}'


def test_the_printed_request_is_what_is_done_and_holds_no_secret(
    rig: Rig, box: Box, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAINING_TOKEN", SECRET)
    submission = rig.job(
        "", argv=("python", "train.py", "--name", "a b"), secrets=("TRAINING_TOKEN",)
    )
    request = shipping_scheduler(rig, box, folder).request(
        submission, str(rig.code), "/admission.json"
    )
    assert mentions(request, "--", f"{box.name}", "input")
    assert f"claim:   mkdir {folder}/tiny-1\n" in request
    assert mentions(request, f"{rig.code}", "sent", f"{folder}", "/code/tiny-1")
    assert "argv:    python train.py --name 'a b'\n" in request
    assert mentions(request, "tmux", "new-session", "tiny-1")
    assert mentions(request, "TRAINING_TOKEN", "input")
    assert SECRET not in request


def test_a_submission_that_is_cut_while_it_sends_starts_nothing_and_can_be_made_again(
    rig: Rig, box: Box, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (rig.code / "large").write_bytes(os.urandom(300_000))
    scheduler = shipping_scheduler(rig, box, folder)
    whole = ssh.build.pack_code(str(rig.code))
    with monkeypatch.context() as patch:
        patch.setattr(ssh.build, "pack_code", lambda code: whole)
        patch.setattr(
            ssh.build, "digest_of", lambda data: {"size": len(data) + 1, "sha256": "0" * 64}
        )
        with pytest.raises(HerorunError, match=r"started.*connection"):
            scheduler.submit(rig.job("echo ran"), str(rig.code), str(admission(rig)))
    assert scheduler.find("tiny-1", long_ago()) == Absent()
    assert box.ssh(f"ls {shlex.quote(folder)}/code").stdout == ""
    scheduler.submit(rig.job("echo ran"), str(rig.code), str(admission(rig)))
    wait_for_end(scheduler)
    assert scheduler.tail("tiny-1", 9) == "ran\n"


def test_an_order_that_a_cut_link_held_up_starts_nothing(rig: Rig, box: Box, folder: str) -> None:
    scheduler = adapter(box, folder, settle="1ms")
    with pytest.raises(HerorunError, match=r"request.*time limit"):
        scheduler.submit(rig.job("echo ran"), str(rig.code), rig.admission)
    assert scheduler.find("tiny-1", long_ago()) == Absent()


def test_another_runs_job_of_the_same_name_is_not_taken_for_ours(rig: Rig) -> None:
    rig.run(rig.job("echo theirs"))
    with pytest.raises(WrongUse, match=r"give.*folder"):
        rig.submit(rig.job("echo ours"))


@pytest.mark.parametrize("socket", ["herorun", ""])
def test_it_outlives_its_connection_in_tmux_or_without(
    rig: Rig, box: Box, folder: str, socket: str
) -> None:
    scheduler = adapter(box, folder, tmux=socket)
    scheduler.submit(rig.job("sleep 30"), str(rig.code), rig.admission)
    private = f"{folder.rpartition('/')[2].split()[0]}.*[/][.]tiny-1"
    # A pattern that does not find its own shell; the newest, for tmux's server is called as it was
    # started.
    mine = f"pgrep -n -f [s]sh/remote_start.py.*{private}"
    parent = box.ssh(f"ps -o comm= -p $(ps -o ppid= -p $({mine}))").stdout
    assert parent.startswith("tmux") == bool(socket), parent
    (job,) = scheduler.live_jobs("tiny")
    assert job.state is JobState.RUNNING and job.reason == ""


def test_where_tmux_is_missing_or_refuses_the_job_has_a_session_of_its_own(
    rig: Rig, box: Box, folder: str
) -> None:
    box.ssh("tmux -L taken new-session -d -s tiny-1 'sleep 20'")
    try:
        scheduler = adapter(box, folder, tmux="taken")
        assert (
            scheduler.submit(rig.job("sleep 30"), str(rig.code), rig.admission).state
            is JobState.RUNNING
        )
    finally:
        box.ssh("tmux -L taken kill-server")
    assert rig.now("tiny-1").state is JobState.RUNNING


@pytest.fixture
def plain(box: Box, tmp_path: Path) -> Iterator[Box]:
    """A login whose PATH has BusyBox' tools and Python alone: no tmux, no setsid, none of
    coreutils.
    """
    busybox = shutil.which("busybox")
    if not busybox:
        skip_or_fail("busybox is not installed: .ci/install brings it")
    few, etc = f"{box.home}/few {tmp_path.name}", "/run/ssh" if box.own else f"{box.folder}/etc"
    keys, key_word = f"{etc}/authorized_keys", shlex.quote(few)
    links = " ".join(
        f"ln -s {busybox} {key_word}/{name};" for name in ("sh", "timeout", "cat", "rm", "sleep")
    )
    box.ssh(
        f'mkdir -p {key_word}; {links} ln -s "$(command -v python3)" {key_word}/python3; cp {keys} '
        f"{keys}.whole"
    )
    box.ssh(f"sed -i 's|PATH=[^\"]*|PATH={few}|' {keys}")
    yield box
    box.ssh(f"/bin/cp {keys}.whole {keys}")


def test_a_plain_box_without_tmux_and_with_busybox_runs_it_anyway(
    rig: Rig, plain: Box, folder: str
) -> None:
    assert plain.ssh("command -v tmux setsid env tail ls", check=False).stdout == ""
    assert "BusyBox" in plain.ssh("timeout --help 2>&1", check=False).stdout
    scheduler = shipping_scheduler(rig, plain, folder)
    scheduler.submit(rig.job("echo begun; exit 3"), str(rig.code), str(admission(rig)))
    assert (wait_for_end(scheduler).exit_code, scheduler.tail("tiny-1", 9)) == (3, "begun\n")
    scheduler.submit(
        rig.job("echo $PPID; exec sleep 60", number=2), str(rig.code), str(admission(rig))
    )
    (job,) = scheduler.live_jobs("tiny")
    assert (job.instance, job.state) == ("tiny-2", JobState.RUNNING)
    assert scheduler.read_log("tiny-1", 0, 3).data == b"beg"
    assert plain.ssh(f"cat {shlex.quote(scheduler.log_place('tiny-1'))}").stdout == "begun\n"
    scheduler.stop("tiny-2", "ada@box")
    stopped_job = wait_for_end(scheduler, "tiny-2")
    assert (stopped_job.state, stopped_job.stopped_by) == (JobState.CANCELLED, "ada@box")


def test_a_hung_program_on_a_plain_box_is_ended_there_in_time(
    rig: Rig, plain: Box, tmp_path: Path
) -> None:
    """By BusyBox' own `timeout`, whose exit code is another one."""
    hangs = SshTransport(SshLogin(host=plain.name, ssh_config=str(plain.config)), connect=5)
    began = time.monotonic()
    with pytest.raises(CouldNotLook, match=r"gave.*1s"):
        hangs.run(["sleep", "31"], 1)
    assert time.monotonic() - began < 25


# --- how it ended ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV"])
def test_a_signal_is_recognised_from_an_exit_code_that_looks_like_it(rig: Rig, name: str) -> None:
    job = rig.run(rig.job(f"kill -{name[3:]} $$"))
    assert (job.state, job.signal, job.exit_code, job.has_crashed) == (
        JobState.FAILED,
        name,
        None,
        True,
    )
    job = rig.run(rig.job("exit 137", number=2))
    assert (job.state, job.signal, job.exit_code) == (JobState.FAILED, None, 137)


def test_a_supervisor_that_is_killed_leaves_the_job_running_and_a_stop_still_ends_it(
    rig: Rig, box: Box
) -> None:
    rig.submit(rig.job("sleep 60"))
    box.ssh("tmux -L herorun kill-server; pkill -9 -f '[_]ssh/remote_start.py'", check=False)
    job = rig.now("tiny-1")
    assert job.state is JobState.RUNNING and mentions(job.reason, "supervisor", "gone")
    rig.connect().stop("tiny-1", "ada@box")
    job = rig.now("tiny-1")
    assert (job.state, job.stopped_by) == (JobState.CANCELLED, "ada@box")


def test_a_damaged_record_is_named_and_nothing_is_guessed(rig: Rig, box: Box, folder: str) -> None:
    rig.run(rig.job("exit 0"))
    box.ssh(f"echo '{{' > {shlex.quote(folder)}/tiny-1/exit.json")
    answer = rig.connect().find("tiny-1", long_ago())
    assert isinstance(answer, Unknown) and "exit.json of tiny-1" in answer.why


def test_all_instances_are_found_by_one_connection(rig: Rig, box: Box, folder: str) -> None:
    rig.run(rig.job("exit 3"))
    rig.run(rig.job("exit 0", number=2))
    before = logins(box)
    times = {f"tiny-{number}": long_ago() for number in range(1, 200)}
    answers = rig.connect().find_all(times)
    assert logins(box) - before == 1
    assert [answers[f"tiny-{n}"].job.exit_code for n in (1, 2)] == [3, 0]
    assert {answers[f"tiny-{n}"] for n in range(3, 200)} == {Absent()}


def test_questions_of_one_moment_share_a_connection(
    rig: Rig, box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    from concurrent.futures import ThreadPoolExecutor

    monkeypatch.setattr(remote_python, "BATCH_WINDOW", 2.0)  # a busy machine's moment
    rig.run(rig.job("echo one"))
    scheduler, before = rig.connect(), logins(box)
    with ThreadPoolExecutor(4) as pool:
        submit = pool.submit(scheduler.find, "tiny-1", long_ago())
        none = pool.submit(scheduler.tail, "tiny-9", 5)
        live, log = (
            pool.submit(scheduler.live_jobs, "tiny"),
            pool.submit(scheduler.tail, "tiny-1", 5),
        )
        assert (live.result(), submit.result().job.exit_code) == ((), 0)
        assert log.result().startswith("one\n")
        with pytest.raises(FileNotFoundError):
            none.result()
    assert logins(box) - before == 1


def logins(box: Box) -> int:
    return (box.folder / "log").read_text().count("Accepted publickey")
