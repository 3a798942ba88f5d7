"""Reads files, folders and locks on the machine. Its source is sent before `_host_probe`.

Standard library only, from Python 3.8 on, and nothing is written.
"""

from __future__ import annotations

import base64
import fcntl
import os
import re
from typing import Any

from herorun.system._regular_file import open_regular

RESULT = 1 << 16  # bytes of a result file


def has_line(file: Any, pattern: str) -> bool:
    line_pattern = re.compile(pattern.encode("utf-8"))
    return any(line_pattern.search(line) for line in file)


def changed_at(path: str) -> float | None:
    """When a file was last written; None if there is none. A folder is not a marker, because a
    failed job may have created it.
    """
    try:
        stats = os.stat(path)
    except FileNotFoundError:
        return None
    if os.path.isdir(path):
        raise ValueError("it is a folder, which proves nothing: a marker must be a file")
    return stats.st_mtime


def read_result(path: str) -> Any:
    try:
        with open_regular(path) as file:
            data = file.read(RESULT + 1)
    except FileNotFoundError:
        return None
    text = base64.b64encode(data[:RESULT]).decode("ascii")
    return {"text": text, "whole": len(data) <= RESULT, "changed": os.stat(path).st_mtime}


def count_files(top: str) -> dict[str, int] | None:
    """The number of files under a folder, and their bytes; None if the folder does not exist. Links
    are not followed.
    """
    if not os.path.isdir(top):
        return None
    count = size = 0
    folders_left = [top]
    while folders_left:
        with os.scandir(folders_left.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders_left.append(entry.path)
                else:
                    count, size = count + 1, size + entry.stat(follow_symlinks=False).st_size
    return {"files": count, "bytes": size}


def measure_room(path: str) -> list[Any]:
    """The free and total bytes and inodes of the path's disk (0 inodes: not counted); a missing
    path is measured at its nearest parent.
    """
    while not os.path.exists(path) and path != "/":
        path = os.path.dirname(path)
    stats = os.statvfs(path)
    return [
        stats.f_bavail * stats.f_frsize,
        stats.f_blocks * stats.f_frsize,
        stats.f_favail,
        stats.f_files,
    ]


def newest_change(root: str) -> float | None:
    """When anything in an output root, or one level below, last changed. What herorun writes there
    at each tick, its lease and receipts, is no output.
    """
    if not os.path.isdir(root):
        return None
    times = [os.stat(root).st_mtime]
    with os.scandir(root) as entries:
        for entry in [each for each in entries if each.name != "_herorun"][-1000:]:
            times.append(entry.stat(follow_symlinks=False).st_mtime)
    return max(times)


def chain_state(folder: str) -> dict[str, Any]:
    """Whether the chain runs, by its lock, which the kernel releases at its end; and its record of
    a failure.
    """
    failure, stage = read_result(f"{folder}/FAILED"), read_result(f"{folder}/STAGE")
    return {
        "runs": _is_lock_held(f"{folder}/lock"),
        "failed": failure["text"] if failure else None,
        "stage": stage["text"] if stage else None,
    }


def _is_lock_held(path: str) -> bool:
    try:
        lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
