"""The supervisor of one local job: starts it, waits for it, and records how it ended.

Standard library only, and run by its path with `python -I -S`: it starts in milliseconds, whatever
is installed. The scheduler `ssh` sends it to a box, whose own Python may be as old as 3.8.
It outlives the process that submitted the job. Killed itself, it leaves the job running; only the
exit record is lost. It adopts what the job's processes leave behind, and the job ends when the last
of them does.

What appears in the folder of an instance, in this order:

    request.json    what was asked; making the folder is the claim
    watched         locked for as long as this program lives
    job.log         what the job prints
    started.json    written by the job's own process right before it becomes the job: without it,
    nothing ran stop.json       written by the one that wants the job to end
    stuck.json      what could not be killed, while that lasts
    exit.json       how it ended

The lock next to the folder comes from the submitter and is passed on to the job: it is held while
any of them lives.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import time
from typing import Any

if __name__ == "__main__":  # run by its path, it does not know where its package is
    sys.path.append(os.path.abspath(f"{__file__}/../../.."))

from herorun.schedulers._job_records import now, reserve, set_reserves, sync, write, write_end
from herorun.schedulers._processes import (
    Process,
    become_subreaper,
    boot,
    env_markers,
    oom_kills,
    processes_of,
    reap_children,
    signal_group,
    start_time,
    terminate_all,
)

STOP_POLL = 0.25  # seconds between two reads of stop.json
NOT_FOUND, NOT_STARTED = 127, 126  # exit codes, as a shell has them
_CAUGHT = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGCHLD")


def main() -> None:
    # a submitter that died has not written it whole: then nothing is started
    order = json.load(sys.stdin)
    set_reserves(order.get("reserves", []))
    if not claim(order):
        return
    if os.fork():
        os._exit(0)  # so that init reaps the supervisor
    run(order)


def claim(order: dict[str, Any]) -> bool:
    """Make the folder of the instance; False if another process has.

    Where a full disk refuses what belongs in it, nothing ran: the claim is taken back, so that the
    instance can be submitted again.
    """
    try:
        os.mkdir(order["folder"], 0o700)
    except FileExistsError:
        return False
    try:
        _settle(order)
    except OSError:
        _take_back(order["folder"])
        raise
    return True


def _take_back(folder: str) -> None:
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            os.unlink(f"{folder}/{name}")
        os.rmdir(folder)


def run(order: dict[str, Any]) -> None:
    """Start the job, and stand by it until its end is written down."""
    wake = _wake_on_signals()
    is_subreaper = become_subreaper()
    kills = oom_kills()
    job = _start_job(order)
    os.dup2(1, 2)  # the submitter waits for this: its end of our standard error closes
    if job:
        _supervise_job(job, order, wake, is_subreaper, kills)


def _log_line(text: str) -> None:
    """One line in the job's log; what it says is in the records too, so a full disk is no reason to
    end.
    """
    with contextlib.suppress(OSError):
        os.write(1, f"herorun: {text}\n".encode("utf-8", "surrogateescape"))


def _settle(order: dict[str, Any]) -> None:
    """Write the request down, make the claim durable, and let standard output be the log."""
    folder = order["folder"]
    watch_lock = os.open(f"{folder}/watched", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(watch_lock, fcntl.LOCK_EX)  # kept until this process ends
    write(folder, "request.json", {**order["request"], "boot": boot()})
    reserve(folder)
    sync(os.path.dirname(folder))
    log = os.open(f"{folder}/job.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    os.dup2(log, 1)


def _wake_on_signals() -> int:
    """A descriptor that becomes readable at a signal.

    Signals end the job, never the supervisor. They are caught and not ignored, because a new
    program begins with the default for a caught signal, while it would inherit an ignored one.
    """
    wake, bell = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(bell, False)
    signal.set_wakeup_fd(bell, warn_on_full_buffer=False)
    for name in _CAUGHT:
        signal.signal(getattr(signal, name), lambda *_: None)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    return wake


def _start_job(order: dict[str, Any]) -> subprocess.Popen[bytes] | None:
    folder = order["folder"]
    try:
        return subprocess.Popen(
            order["argv"],
            cwd=order["cwd"],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=(order["lock"],),
            preexec_fn=lambda: _write_start(folder),
        )
    except Exception as error:  # any error is recorded, so that nothing waits for the job
        code, reason = _explain_start_error(error, order)
        _log_line(reason)
        write_end(folder, {"exit_code": code, "reason": reason, "ended": now()})
        return None


def _explain_start_error(error: Exception, order: dict[str, Any]) -> tuple[int, str]:
    """The exit code that a shell would give, and the reason in words."""
    program, cwd = order["argv"][0], order["cwd"]
    if isinstance(error, subprocess.SubprocessError):
        return NOT_STARTED, f"its start could not be written down in {order['folder']}"
    if isinstance(error, OSError) and error.filename == cwd:
        return NOT_STARTED, f"the working directory {cwd} cannot be entered: {error.strerror}"
    if isinstance(error, FileNotFoundError):
        return NOT_FOUND, f"the program {program}, or the interpreter that it names, was not found"
    why = getattr(error, "strerror", "") or error
    return NOT_STARTED, f"the program {program} could not be started: {why}"


def _write_start(folder: str) -> None:
    """In the job's own process, right before it becomes the job."""
    pid = os.getpid()
    os.environ["HERORUN_MAIN_PID"] = str(pid)
    write(folder, "started.json", {"pid": pid, "birth": start_time(pid), "at": now()})


def _supervise_job(
    job: subprocess.Popen[bytes],
    order: dict[str, Any],
    wake: int,
    is_subreaper: bool,
    kills: int | None,
) -> None:
    """Wait for the end, pass on a request to stop, and write the record once nothing of the job is
    left.
    """
    folder, grace = order["folder"], order["grace"]
    stopped_by, deadline = None, float("inf")
    while job.poll() is None:
        if stopped_by is None and (stopped_by := _stop_requester(folder)) is not None:
            _log_line(f"asked to stop by {stopped_by}: SIGTERM, and SIGKILL in {grace:g}s")
            signal_group(job.pid, signal.SIGTERM)
            deadline = time.monotonic() + grace
        if time.monotonic() >= deadline:
            signal_group(job.pid, signal.SIGKILL)
        reap_children(but=job.pid)
        _pause(wake)
    end = {"ended": now(), "stopped_by": stopped_by, **_exit(job.returncode)}
    # adopted, all are our descendants; a number may come back, later
    group = -1 if is_subreaper else job.pid
    _end_the_rest(group, order, min(deadline, time.monotonic() + grace))
    write_end(
        folder, {**end, "oom_kills": max(0, (oom_kills() or 0) - kills) if kills is not None else 0}
    )


def _end_the_rest(group: int, order: dict[str, Any], quiet: float) -> None:
    """What the main process left behind gets until `quiet`, then SIGTERM, then SIGKILL; until then
    the job runs.
    """
    folder, grace, request = order["folder"], order["grace"], order["request"]
    marks = env_markers(request["instance"], request["admission"])

    def left() -> set[Process]:
        reap_children(but=0)
        return processes_of(marks, group, os.getpid())

    def stuck(remaining: set[Process]) -> None:
        pids = ", ".join(str(process.pid) for process in sorted(remaining))
        reason = (
            f"its main process has ended, but some of its processes could not be killed: {pids}"
        )
        _log_line(reason)
        with contextlib.suppress(OSError):
            write(folder, "stuck.json", {"reason": reason})

    if left():
        _log_line(
            f"the main process has ended; the rest of its processes has {grace:g}s, then SIGTERM "
            "and SIGKILL"
        )
    terminate_all(left, quiet, grace, lambda: _stop_requester(folder) is not None, stuck)


def _exit(code: int) -> dict[str, Any]:
    if code >= 0:
        return {"exit_code": code}
    with contextlib.suppress(ValueError):
        return {"signal": signal.Signals(-code).name}
    return {"signal": f"signal {-code}"}  # the real-time ones have no names


def _stop_requester(folder: str) -> str | None:
    """Who asked for the end; None if it was not requested."""
    try:
        with open(f"{folder}/stop.json", encoding="utf-8") as file:
            return str(json.load(file)["by"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError):
        return "an unknown person"  # the request is there, whatever it says


def _pause(wake: int) -> None:
    if select.select([wake], [], [], STOP_POLL)[0]:
        with contextlib.suppress(BlockingIOError):
            os.read(wake, 4096)


if __name__ == "__main__":
    main()
