"""The supervisor of one local job: starts it, waits for it, and records how it ended.

Standard library only, and run by its path with `python -I -S`: it starts in milliseconds, whatever
is installed. The scheduler `ssh` sends it to a remote machine, whose Python may be as old as 3.8.
It outlives the process that submitted the job. If it is killed, the job continues, and only the
exit record is lost. It adopts orphans of the job's processes, and the job ends when the last one
does.

What appears in the folder of an instance, in this order:

    request.json    what was asked; making the folder is the claim
    watched         locked while this program runs
    job.log         what the job prints
    started.json    written by the job's own process right before exec: without it, nothing ran
    stop.json       written by the one that orders the stop
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

if __name__ == "__main__":  # run by its path, it must add its package's folder
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
_CAUGHT_SIGNALS = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGCHLD")


def main() -> None:
    # if the submitter was killed, the order is incomplete: then nothing is started
    order = json.load(sys.stdin)
    set_reserves(order.get("reserves", []))
    if not claim(order):
        return
    reader, writer = os.pipe()
    if os.fork():
        os._exit(0)  # so that init reaps the supervisor
    os.close(writer)
    os.read(reader, 1)  # until that process has ended: its environment names the instance, too
    os.close(reader)
    run(order)


def claim(order: dict[str, Any]) -> bool:
    """Make the folder of the instance; False if another process has.

    If a full disk prevents writing into it, nothing ran: the folder is removed, so that the
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
    """Start the job, and wait until its end is recorded."""
    wake = _wake_on_signals()
    is_subreaper = become_subreaper()
    kills = oom_kills()
    job = _start_job(order)
    os.dup2(1, 2)  # this tells the waiting submitter: our standard error closes
    if job:
        _supervise_job(job, order, wake, is_subreaper, kills)


def _log_line(text: str) -> None:
    """Write one line to the job's log. The records also have it, so a full disk is ignored."""
    with contextlib.suppress(OSError):
        os.write(1, f"herorun: {text}\n".encode("utf-8", "surrogateescape"))


def _settle(order: dict[str, Any]) -> None:
    """Write the request, make the folder durable, and redirect standard output to the log."""
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
    for name in _CAUGHT_SIGNALS:
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
    except Exception as error:  # any error is recorded, so that nobody waits for the job
        code, reason = _explain_start_error(error, order)
        _log_line(reason)
        write_end(folder, {"exit_code": code, "reason": reason, "ended": now()})
        return None


def _explain_start_error(error: Exception, order: dict[str, Any]) -> tuple[int, str]:
    """The exit code that a shell would return, and the reason as text."""
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
    """Called in the job's own process, right before exec."""
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
    """Wait for the end, pass on stop requests, and write the record once no process of the job is
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
    # as subreaper, all are our descendants; a group's number may be reused later
    group = -1 if is_subreaper else job.pid
    _end_the_rest(group, order, min(deadline, time.monotonic() + grace))
    write_end(
        folder, {**end, "oom_kills": max(0, (oom_kills() or 0) - kills) if kills is not None else 0}
    )


def _end_the_rest(group: int, order: dict[str, Any], quiet: float) -> None:
    """End the processes that the main one left: they may run until `quiet`, then get SIGTERM, then
    SIGKILL. Until they end the job runs.
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
    """Who ordered the stop; None if nobody did."""
    try:
        with open(f"{folder}/stop.json", encoding="utf-8") as file:
            return str(json.load(file)["by"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError):
        return "an unknown person"  # the request exists, but cannot be read


def _pause(wake: int) -> None:
    if select.select([wake], [], [], STOP_POLL)[0]:
        with contextlib.suppress(BlockingIOError):
            os.read(wake, 4096)


if __name__ == "__main__":
    main()
