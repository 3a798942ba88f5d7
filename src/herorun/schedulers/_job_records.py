"""Writes the records of a job on this machine so that neither a crash nor a full disk loses one.

Standard library only, from Python 3.8 on: it is sent to a remote machine with the supervisor.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import time
from typing import Any

FULL_DISK = 600.0  # seconds for which writing the exit record is retried
RESERVE = 4096  # bytes kept for the exit record on a disk that may fill up
_FULL = (errno.ENOSPC, errno.EDQUOT)
_reserves: list[str] = []  # files that reserve space for the records of start and end


def now() -> str:
    seconds, nanoseconds = divmod(time.time_ns(), 10**9)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{nanoseconds // 1000:06d}Z"


def set_reserves(paths: list[str]) -> None:
    """Files that are deleted once the disk is full, to make room for records."""
    _reserves[:] = paths


def write(folder: str, name: str, value: dict[str, Any]) -> None:
    """Write a file so that a reader sees all of it or nothing, and a crash of the machine does not
    lose it.
    """
    try:
        _write_state(folder, name, value)
    except OSError as error:
        if error.errno not in _FULL or not _give_up_reserves():
            raise
        _write_state(folder, name, value)


def _give_up_reserves() -> bool:
    count = 0
    for path in _reserves:
        with contextlib.suppress(OSError):
            os.unlink(path)
            count += 1
    return count > 0


def _write_state(folder: str, name: str, value: dict[str, Any]) -> None:
    temporary = f"{folder}/.{name}.new"
    try:
        with open(
            os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb"
        ) as file:
            file.write(json.dumps(value, sort_keys=True).encode("ascii") + b"\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, f"{folder}/{name}")
    except OSError:  # a partial file would stay, and take space on a full disk
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    sync(folder)


def reserve(folder: str) -> None:
    """Reserve space for the exit record in advance."""
    with open(
        os.open(f"{folder}/.reserve", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600), "wb"
    ) as file:
        file.write(b" " * RESERVE)
        file.flush()
        os.fsync(file.fileno())


def write_end(folder: str, end: dict[str, Any]) -> None:
    """A full disk must not turn a success into a crash: the reserve is used, and if that is not
    enough, it is tried again for a while.
    """
    until = time.monotonic() + FULL_DISK
    while True:
        try:
            return write(folder, "exit.json", end)
        except OSError as error:
            if error.errno in _FULL and _write_in_reserve(folder, end):
                return None
            if time.monotonic() >= until or not os.path.isdir(folder):
                raise
        time.sleep(5)


def _write_in_reserve(folder: str, end: dict[str, Any]) -> bool:
    """Overwrite the reserved bytes in place, which needs no space; trailing spaces are harmless."""
    text = json.dumps(end, sort_keys=True).encode("ascii").ljust(RESERVE - 1) + b"\n"
    try:
        with open(os.open(f"{folder}/.reserve", os.O_WRONLY | os.O_CLOEXEC), "r+b") as file:
            file.write(text[:RESERVE])
            file.flush()
            os.fsync(file.fileno())
        os.replace(f"{folder}/.reserve", f"{folder}/exit.json")
    except OSError:
        return False
    return len(text) == RESERVE


def sync(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
