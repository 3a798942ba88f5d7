"""Reads the state of jobs on the remote machine. Its source is sent with each query
(`system/remote_python.py`).

Standard library only, from Python 3.8 on. What lies in the scheduler's folder, next to the
supervisor's own files in each `<instance>/` (`_supervisor.py`):

    <instance>.submit          locked while it is being submitted
    <instance>.lock            locked while the supervisor or any process of the job runs
    code/<instance>/           the code, where it was sent
    admissions/<instance>.json
    programs/<digest>/         the supervisor itself
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from typing import Any

from herorun.schedulers._processes import boot, env_markers, processes_of, start_time
from herorun.system._regular_file import open_regular
from herorun.system._remote_agent import encode_bytes

ROOM, FILES = 1 << 20, 64  # bytes and names that a disk must have left for a job's records
BLOCK, MAX_LOG = 1 << 16, 1 << 20  # bytes of a log that are read at once, and in all
MAX_RECORD_BYTES = 64 << 20  # bytes of one of these, which are read whole
RECORDS = ("request.json", "started.json", "stop.json", "stuck.json", "exit.json")


def probe_instances(folder: str, names: list[str]) -> dict[str, Any]:
    """The facts of each instance."""
    if not os.path.isdir(folder):
        _refuse_a_file(folder)
    return {
        "now": time.time(),
        "boot": boot(),
        "jobs": {name: facts(folder, name) for name in names},
    }


def probe_all(folder: str, slugs: list[str], instances: list[str]) -> dict[str, Any]:
    """The same of every instance of these runs, and of those that are wanted."""
    ours = re.compile(rf"((?:{'|'.join(map(re.escape, slugs))})-[0-9]+)(?:\.lock|\.submit)?")
    try:
        names = {match.group(1) for match in map(ours.fullmatch, os.listdir(folder)) if match}
    except FileNotFoundError:
        names = set()
    return probe_instances(
        folder, sorted(names.union(instances), key=lambda name: (len(name), name))
    )


def facts(folder: str, name: str) -> dict[str, Any]:
    """The locks before the records: the exit record is written before the lock is freed."""
    path = os.path.join(folder, name)
    result: dict[str, Any] = {
        "submitting": is_locked(f"{path}.submit"),
        "locked": is_locked(f"{path}.lock"),
        "there": path_exists(path),
    }
    if not result["there"]:
        return result
    result["watched"] = is_locked(f"{path}/watched")
    records = {kind: record(f"{path}/{kind}") for kind in RECORDS}
    result["records"] = {kind: text for kind, text in records.items() if text is not None}
    result["lives"] = lives(read(records["started.json"]))
    if (
        not (result["watched"] or result["lives"] or records["exit.json"])
        and records["started.json"]
    ):
        result["rest"] = sorted(
            process.pid for process in remaining_processes(read(records["request.json"]))
        )
    return result


def tail(folder: str, name: str, lines: int) -> str:
    """The end of the log, however long it is."""
    data = b""
    with open_regular(os.path.join(folder, name, "job.log")) as file:
        at = file.seek(0, os.SEEK_END)
        while at > 0 and len(data) < MAX_LOG and data.count(b"\n") <= lines:
            at, before = max(at - BLOCK, 0), at
            file.seek(at)
            data = file.read(before - at) + data
    return encode_bytes(b"".join(data.splitlines(keepends=True)[-lines:]) if lines > 0 else b"")


def is_locked(path: str) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        # shared: two who ask must not see each other
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)


def path_exists(path: str) -> bool:
    """Whether the path exists; a path that cannot be read raises, and does not count as absent."""
    try:
        os.stat(path)
    except FileNotFoundError:
        return False
    return True


def record(path: str) -> str | None:
    try:
        with open_regular(path) as file:
            size = min(os.fstat(file.fileno()).st_size, MAX_RECORD_BYTES)
            return file.read(size).decode("utf-8", "replace")
    except FileNotFoundError:
        return None


def read(text: str | None) -> dict[str, Any]:
    """A record's content; empty if it is damaged, which others report."""
    try:
        document = json.loads(text or "{}")
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def lives(start_record: dict[str, Any]) -> bool:
    """Whether exactly this process still runs."""
    pid, start_text = start_record.get("pid"), start_record.get("birth")
    return isinstance(pid, int) and bool(start_text) and start_time(pid) == start_text


def remaining_processes(request: dict[str, Any], group: int = -1) -> set[Any]:
    """The processes that name the instance and its admission, or are in the group."""
    return processes_of(
        env_markers(str(request.get("instance", "")), str(request.get("admission", ""))), group
    )


def _refuse_a_file(folder: str) -> None:
    """A folder that is not there yet is empty; one that cannot be is an error."""
    if os.path.lexists(folder):
        os.listdir(folder)
        return
    top = os.path.dirname(folder)
    while top != os.path.dirname(top) and not os.path.lexists(top):
        top = os.path.dirname(top)
    os.listdir(top)


def folder_problem(folder: str) -> str:
    """Why a submission could not write in the folder, which it would make; empty if it could.
    Nothing is written.
    """
    top = folder
    while top != os.path.dirname(top) and not os.path.lexists(top):
        top = os.path.dirname(top)
    if not os.path.isdir(top):
        return f"{top} is not a folder"
    if not os.access(top, os.W_OK | os.X_OK):
        return f"this login cannot write in {top}"
    return "" if has_room(top) else f"the disk of {top} is full"


def has_room(folder: str) -> bool:
    """Whether its disk has room for a job's records."""
    stats = os.statvfs(folder)
    return stats.f_bavail * stats.f_frsize >= ROOM and not (
        stats.f_files and stats.f_favail < FILES
    )
