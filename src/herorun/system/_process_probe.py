"""Reads the state of a process on a remote machine. Its source is sent after `_host_probe`
(`system/remote_python.py`).

Standard library only, from Python 3.8 on.
"""

from __future__ import annotations

import base64
import hashlib
import os
import pwd
import signal
import time
from typing import Any

from herorun.system import _host_memory, _host_probe, _host_processes
from herorun.system._regular_file import open_regular

TAIL = 1 << 22  # bytes of a log's end that are sent
START_FIELD = 19  # of the fields of /proc/PID/stat behind the name: ticks from the machine's start


def process(pid: int) -> dict[str, Any]:
    """The process's start (which distinguishes it from a later one with its number; empty: it has
    ended), age, arguments, owner, folder and output file; and the machine's boot id and memory.
    """
    memory = _host_probe.answer_of(lambda: _host_memory.memory("self"))
    facts = {"boot": _boot(), "kills": memory.get("oom_kill"), "start": _start_time(pid)}
    if not facts["start"]:
        return facts
    owner = os.stat(f"/proc/{pid}").st_uid
    return {
        **facts,
        "seconds": _seconds(pid),
        "words": _argv_of_pid(pid),
        "mark": _mark(_argv_of_pid(pid)),
        "folder": _link(f"/proc/{pid}/cwd"),
        "out": _printed_to(pid),
        "owner": _name(owner),
        "mine": owner == os.geteuid(),
    }


def namesakes(pid: int, mark: str) -> list[int]:
    """This login's other processes with the same command line."""
    pids = (name for name in os.listdir("/proc") if name.isdecimal() and int(name) != pid)
    return [
        int(name) for name in pids if (w := _host_processes.read_argv(name)) and _mark(w) == mark
    ]


def tail(path: str, folder: str) -> str:
    """The end of its log; a relative path is relative to its folder."""
    with open_regular(os.path.join(folder, os.path.expanduser(path))) as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - TAIL))
        data = file.read(TAIL)
    full_lines = data if size <= TAIL else data.partition(b"\n")[2]
    return base64.b64encode(full_lines).decode("ascii")


def age(path: str, folder: str) -> float:
    """Seconds since its log last changed, by the clock here."""
    return time.time() - os.stat(os.path.join(folder, os.path.expanduser(path))).st_mtime


def end(pid: int, start: str) -> bool:
    """Ask exactly that process to end; False if it no longer exists."""
    if not start or _start_time(pid) != start:
        return False
    os.kill(pid, signal.SIGTERM)
    return True


def _start_time(pid: int) -> str:
    try:
        stat = _host_processes.read_stat(str(pid))
    except OSError:
        return ""
    return f"{_boot()} {stat[START_FIELD]}" if stat and stat[0] not in _host_processes.DEAD else ""


def _seconds(pid: int) -> float:
    """Seconds since it was started."""
    with open("/proc/uptime", encoding="ascii") as file:
        up = float(file.read().split()[0])
    return up - int(_host_processes.read_stat(str(pid))[START_FIELD]) / os.sysconf("SC_CLK_TCK")


def _boot() -> str:
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def _argv_of_pid(pid: int) -> list[str]:
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().decode("utf-8", "replace").rstrip("\0").split("\0")


def _mark(argv: list[str]) -> str:
    """A digest of the command line, which is not stored because it may contain a secret."""
    return hashlib.sha256("\0".join(argv).encode("utf-8", "replace")).hexdigest()


def _printed_to(pid: int) -> str:
    """The file of its standard output; "" if it is a terminal, a pipe or another user's."""
    out = _link(f"/proc/{pid}/fd/1")
    return out if os.path.isfile(out) else ""


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"
