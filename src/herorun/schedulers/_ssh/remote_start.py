"""Starts and stops a job on the remote machine. Its source is sent there, and becomes the
supervisor's program.

Standard library only, from Python 3.8 on. `_ssh.probe` lists the files.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import fnmatch
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from typing import Any

# started on the box as the supervisor: run by its path, next to what it needs
if __name__ == "__main__":
    sys.path.append(os.path.abspath(f"{__file__}/../../../.."))

from herorun.schedulers import _supervisor
from herorun.schedulers._job_records import now
from herorun.schedulers._processes import terminate_all
from herorun.schedulers._ssh.probe import (
    facts,
    has_room,
    is_locked,
    lives,
    path_exists,
    probe_instances,
    read,
    record,
    remaining_processes,
)
from herorun.schedulers._ssh.remote_write import unpack, write_file

POLL_INTERVAL = 0.01  # seconds between two polls for the start
_NOT_PASSED_ON = "LC_ALL"  # the language of our own commands is not the job's
_FOR_TMUX = re.compile("HOME|PATH|USER|LOGNAME|SHELL|LANG|TMUX_TMPDIR")  # travels to the box


def submit(order: dict[str, Any]) -> dict[str, Any]:
    """Start the instance unless it exists; the secrets, the admission and the code arrive by
    standard input.
    """
    if time.time() > order["expires"]:  # held up on a link that was cut, and given up since
        raise OSError("the request arrived after its time limit")
    private = json.loads(sys.stdin.buffer.read(order["private"]))
    folder, name = order["folder"], order["request"]["instance"]
    os.makedirs(folder, mode=0o700, exist_ok=True)
    lock = _take_lock(os.path.join(folder, f"{name}.submit"))
    if (
        lock is None
        or path_exists(os.path.join(folder, name))
        or is_locked(os.path.join(folder, f"{name}.lock"))
    ):
        return probe_instances(folder, [name])
    how = ""
    try:
        _demand_room(folder)
        if order["code"]:
            unpack(order["code"], sys.stdin.buffer, order["request"]["code"])
        if private["admission"]:
            write_file(
                order["request"]["admission"],
                private["admission"].encode("utf-8", "surrogateescape"),
            )
        how = _start_detached(order, private["secrets"])
        _await(os.path.join(folder, name), time.monotonic() + order["within"])
    finally:
        os.close(lock)
    return {**probe_instances(folder, [name]), "how": how}


def _demand_room(folder: str) -> None:
    """Checked before anything is written: without room for its records, a job's state could not be
    determined.
    """
    if not has_room(folder):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), folder)


def _take_lock(path: str) -> int | None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _start_detached(order: dict[str, Any], secrets: dict[str, str]) -> str:
    """Start under tmux, otherwise in a session of its own; either outlives the connection. Returns
    which.
    """
    folder, name = order["folder"], order["request"]["instance"]
    base = _machine_environment(order["machine"])
    private = os.path.join(folder, f".{name}.{os.getpid()}.start")
    start = _supervisor_start(order, {**base, "PYTHONUNBUFFERED": "1"}, secrets)
    write_file(private, json.dumps(start).encode("ascii"))
    try:
        python = [sys.executable, "-I", "-S", "-B", "-X", "utf8"]
        argv = [*python, _install_programs(folder, order["programs"]), private]
        how = (
            _under_tmux(order["tmux"], name, argv, base)
            if order["tmux"]
            else "in a session of its own"
        )
        if not how:
            how = "in a session of its own, without tmux"
        if not how.startswith("under"):
            _start_session(argv, base)
        _await_taken(private, os.path.join(folder, name), time.monotonic() + order["within"])
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(private)
    return how


def _machine_environment(globs: list[str]) -> dict[str, str]:
    """The variables of this machine that the job may see, by the globs of their names."""
    return {
        key: value
        for key, value in os.environ.items()
        if key != _NOT_PASSED_ON and any(fnmatch.fnmatchcase(key, glob) for glob in globs)
    }


def _supervisor_start(
    order: dict[str, Any], base: dict[str, str], secrets: dict[str, str]
) -> dict[str, Any]:
    """What the supervisor reads when it starts."""
    folder, request = order["folder"], order["request"]
    return {
        "order": {
            "request": request,
            "folder": os.path.join(folder, request["instance"]),
            "argv": request["argv"],
            "cwd": os.path.join(request["code"], request["cwd"]),
            "grace": order["grace"],
        },
        "lock": os.path.join(folder, f"{request['instance']}.lock"),
        "environment": {**base, **order["environment"], **secrets},
    }


def _start_session(argv: list[str], env: dict[str, str]) -> None:
    """A process in a session of its own, without this connection's input and output."""
    nothing = subprocess.DEVNULL
    subprocess.Popen(
        argv,
        stdin=nothing,
        stdout=nothing,
        stderr=nothing,
        cwd="/",
        env=env,
        start_new_session=True,
    )


def _under_tmux(socket: str, name: str, argv: list[str], env: dict[str, str]) -> str:
    """Empty if tmux is missing or fails: a session may already have that name."""
    tmux = shutil.which("tmux")
    if tmux is None:
        return ""
    clean = {key: value for key, value in env.items() if _FOR_TMUX.fullmatch(key)}
    command = [tmux, "-L", socket, "-f", os.devnull, "new-session", "-d", "-s", name, "--", *argv]
    try:
        process = subprocess.run(
            command, cwd="/", env=clean, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, timeout=10, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return f"under tmux -L {socket}, session {name}" if process.returncode == 0 else ""


def _install_programs(folder: str, programs: list[list[str]]) -> str:
    """The supervisor and what it needs, as files: under their digest, so that no later version
    changes them.
    """
    digest = hashlib.sha256(json.dumps(programs).encode()).hexdigest()[:16]
    top = os.path.join(folder, "programs", digest)
    for name, source in programs:
        path = os.path.join(top, *name.split(".")) + ".py"
        if record(path) != source:
            write_file(path, source.encode("utf-8"))
    return path


def _await_taken(private: str, folder: str, until: float) -> None:
    """The private file is read and deleted first of all; it must not outlive this call."""
    while os.path.exists(private) and not path_exists(folder) and time.monotonic() < until:
        time.sleep(POLL_INTERVAL)


def _await(folder: str, until: float) -> None:
    """Wait until it has started, or has failed to."""
    while time.monotonic() < until:
        if os.path.exists(f"{folder}/started.json") or os.path.exists(f"{folder}/exit.json"):
            return
        time.sleep(POLL_INTERVAL)


def start(private: str) -> None:
    """In the process that becomes the supervisor: take the private file, the lock and the claim,
    then run the job.
    """
    with open(private, encoding="ascii") as file:
        request = json.load(file)
    os.unlink(private)
    lock = os.open(request["lock"], os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return  # another one is at it
    os.environ.clear()
    os.environ.update(request["environment"])
    order = {**request["order"], "lock": lock}
    print(
        f"herorun supervises {order['request']['instance']}; its log is {order['folder']}/job.log",
        flush=True,
    )
    try:
        claim_result = _supervisor.claim(order)
    # a disk that filled up this very moment: nothing has run, so nothing was claimed
    except OSError:
        shutil.rmtree(order["folder"], ignore_errors=True)
        raise
    if claim_result:
        _supervisor.run(order)


def stop(folder: str, name: str, by: str, grace: float) -> dict[str, Any]:
    """Request the stop from the supervisor; if that has exited, stop the job here."""
    path = os.path.join(folder, name)
    instance_facts = facts(folder, name)
    if not instance_facts["there"] or "exit.json" in instance_facts["records"]:
        return probe_instances(folder, [name])
    if "stop.json" not in instance_facts["records"]:
        text = json.dumps({"by": by, "at": now()}).encode("ascii") + b"\n"
        write_file(f"{path}/stop.json", text)
    if not instance_facts["watched"]:
        _stop_unwatched(path, grace)
    return probe_instances(folder, [name])


def _stop_unwatched(path: str, grace: float) -> None:
    request, start_record = (
        read(record(f"{path}/request.json")),
        read(record(f"{path}/started.json")),
    )
    group = start_record["pid"] if lives(start_record) else -1

    def stuck(remaining: set[Any]) -> None:
        pids = ", ".join(str(process.pid) for process in sorted(remaining))
        raise OSError(f"some processes of {os.path.basename(path)} could not be killed: {pids}")

    terminate_all(
        lambda: remaining_processes(request, group), time.monotonic(), grace, lambda: False, stuck
    )


if __name__ == "__main__":
    start(sys.argv[1])
