"""Starts a job on this machine: its request, and the supervisor that runs it."""

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from herorun.core.errors import HerorunError, WrongUse
from herorun.core.ports import Submission
from herorun.core.redaction.scrub import scrub_tree
from herorun.schedulers import _supervisor
from herorun.system.files import take_lock


def request_of(submission: Submission, code: str, admission: str) -> dict[str, Any]:
    """The stored part of the submission: names of secrets, never values."""
    return {
        "instance": submission.instance,
        "argv": list(submission.argv),
        "cwd": submission.cwd,
        "env": dict(submission.env),
        "secrets": list(submission.secrets),
        "code": os.path.abspath(code),
        "admission": admission,
        "host": socket.gethostname(),
    }


_MARKS = ("instance", "admission", "host")  # by these the job's processes are found


def order_of(
    request: Mapping[str, Any],
    folder: str,
    lock: int,
    grace: timedelta,
    reserves: Sequence[Path] = (),
) -> dict[str, Any]:
    """The supervisor's standard input. It deletes the `reserves` if its disk is full."""
    return {
        "request": {
            **scrub_tree(request),
            **{name: request[name] for name in _MARKS if name in request},
        },
        "folder": folder,
        "argv": request["argv"],
        "cwd": os.path.join(request["code"], request["cwd"]),
        "lock": lock,
        "grace": grace.total_seconds(),
        "reserves": [str(path) for path in reserves],
    }


@contextlib.contextmanager
def lock_if_free(path: Path) -> Iterator[int | None]:
    try:
        lock = take_lock(path, 0, "another submission")
    except WrongUse:
        yield None
        return
    try:
        yield lock
    finally:
        os.close(lock)  # the supervisor holds the lock now


def start_supervisor(order: dict[str, Any], env: dict[str, str], within: timedelta) -> None:
    """Returns when the job runs, or is recorded as failed."""
    name = order["request"]["instance"]
    command = (sys.executable, "-I", "-S", "-X", "utf8", _supervisor.__file__, name)
    try:
        supervisor = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/",
            env=env,
            start_new_session=True,  # Ctrl-C here must not reach the job
            pass_fds=(order["lock"],),
        )
        _, output = supervisor.communicate(json.dumps(order).encode(), within.total_seconds())
    except subprocess.TimeoutExpired:
        return  # the caller checks whether it has started
    except (OSError, ValueError) as error:
        raise HerorunError(
            f"{name} was not started: {getattr(error, 'strerror', None) or error}."
        ) from None
    if supervisor.returncode:
        why = output.decode("utf-8", "replace").strip().splitlines() or [
            f"exit code {supervisor.returncode}"
        ]
        raise HerorunError(f"{name} was not started: {why[-1]}")
