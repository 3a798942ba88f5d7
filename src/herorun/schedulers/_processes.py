"""The processes of this machine: which of them are a job's, and their orderly end. Standard library
only, Python 3.8 or later.

A job's processes are those in its process group, those that descend from its supervisor, and those
whose environment names the instance and its admission: workers in sessions of their own are found
by the latter two.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from typing import NamedTuple

POLL_INTERVAL = 0.1  # seconds between two polls of what is left
LAST_WAIT = 5.0  # seconds that killed processes get to disappear
_PR_SET_CHILD_SUBREAPER = 36
_DEAD = (b"Z", b"X")  # process states: dead, but not reaped


class Process(NamedTuple):
    pid: int
    parent: int
    group: int
    start_time: (
        int  # clock ticks after the start of the machine: with the pid, this is its identity
    )


def become_subreaper() -> bool:
    """Become the parent of every orphaned descendant (a subreaper); False if the system lacks
    this.
    """
    try:
        import ctypes

        return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (ImportError, OSError, AttributeError):
        return False


def reap_children(but: int) -> None:
    """Reap adopted children that have ended; `but` is reaped by the process that started it."""
    # none left; no such call on this system
    with contextlib.suppress(ChildProcessError, AttributeError):
        while ended_child := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if ended_child.si_pid == but:
                return
            os.waitpid(ended_child.si_pid, 0)


def env_markers(instance: str, admission: str) -> frozenset[bytes]:
    """The marks in the environment of each process of an instance; empty if they would not be
    unique to it.
    """
    if not instance or not admission:
        return frozenset()
    return frozenset(
        (os.fsencode(f"HERORUN_INSTANCE={instance}"), os.fsencode(f"HERORUN_ADMISSION={admission}"))
    )


def processes_of(marks: frozenset[bytes], group: int = -1, top: int = -1) -> set[Process]:
    """The running processes of a job that we may signal: by mark, in the process group, or
    descendants of `top`.
    """
    try:
        everyone = _everyone()
    except FileNotFoundError:  # no /proc: a negative number signals a whole group
        return {Process(-group, 0, group, 0)} if group > 0 and signal_group(group, 0) else set()
    family = _descendants(top, everyone)
    return {
        p
        for p, living in everyone.items()
        if living and (p.group == group or p in family or _has_marks(p.pid, marks)) and _send(p, 0)
    }


def terminate_all(
    find_remaining: Callable[[], set[Process]],
    quiet: float,
    grace: float,
    hurry: Callable[[], bool],
    on_stuck: Callable[[set[Process]], None],
) -> None:
    """Wait until nothing is left: SIGTERM to each at the time `quiet`, or when `hurry`, and SIGKILL
    a grace later.

    `on_stuck` gets, once, the processes that SIGKILL did not end; the wait continues unless it
    raises.
    """
    sigterm_sent: set[Process] = set()
    is_reported = False
    # twice: a process that forks and ends during a scan may hide its child
    while remaining := find_remaining() or find_remaining():
        if time.monotonic() < quiet and hurry():
            quiet = time.monotonic()
        quiet_for = time.monotonic() - quiet
        if quiet_for >= grace:
            _send_each(remaining, signal.SIGKILL)
        elif quiet_for >= 0:
            _send_each(remaining - sigterm_sent, signal.SIGTERM)
            sigterm_sent |= remaining
        if quiet_for >= grace + LAST_WAIT and not is_reported:
            on_stuck(remaining)
            is_reported = True
        time.sleep(POLL_INTERVAL)


def signal_group(group: int, number: int) -> bool:
    """Signal a process group; False if there is nothing left in it that we may signal."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _send_each(processes: set[Process], number: int) -> None:
    for process in processes:
        _send(process, number)


def _send(process: Process, number: int) -> bool:
    """Signal exactly this process, never a later one with its pid; False if it has ended or is not
    ours to signal.
    """
    if process.pid > 0 and _start_time_of(_stat(str(process.pid))) != process.start_time:
        return False
    try:
        os.kill(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def start_time(pid: int) -> str:
    """What distinguishes a process from a later one with its pid; empty if it has ended or the
    system does not report it.
    """
    stat, boot_id = _stat(str(pid)), boot()
    return f"{boot_id} {_start_time_of(stat)}" if boot_id and stat and stat[0] not in _DEAD else ""


def boot() -> str:
    """Changes with each boot of the machine; empty if the system has no boot id."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def oom_kills() -> int | None:
    """How many processes of our own memory cgroup the kernel has killed for lack of memory; None if
    unknown.
    """
    for path in _memory_events():
        try:
            with open(path, encoding="ascii") as file:
                counters = dict(line.split()[:2] for line in file if len(line.split()) > 1)
        except OSError:
            continue
        if counters.get("oom_kill", "").isdecimal():
            return int(counters["oom_kill"])
    return None


def _memory_events() -> list[str]:
    """Where the counter may be: of both versions, by the cgroup's path and, inside a container,
    without it.
    """
    try:
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            parts = [line.rstrip("\n").split(":", 2) for line in file]
    except OSError:
        return []
    own = {part[1]: part[2].rstrip("/") for part in parts if len(part) == 3}
    v1 = next((path for names, path in own.items() if "memory" in names.split(",")), None)
    top = "/sys/fs/cgroup"
    old = (
        [f"{top}/memory{path}/memory.oom_control" for path in (v1, "") if path is not None]
        if v1 is not None
        else []
    )
    new = (
        [f"{top}{path}/memory.events" for path in (own[""], "") if path is not None]
        if "" in own
        else []
    )
    return old + new


def _everyone() -> dict[Process, bool]:
    """Every process but this one, and whether it runs; zombies, which many containers never reap,
    do not.
    """
    processes = {}
    for name in os.listdir("/proc"):
        if (stat := _stat(name)) and int(name) != os.getpid():
            processes[Process(int(name), int(stat[1]), int(stat[2]), _start_time_of(stat))] = (
                stat[0] not in _DEAD
            )
    return processes


def _descendants(top: int, everyone: dict[Process, bool]) -> set[Process]:
    descendants: set[Process] = set()
    parents = {top}
    while children := {p for p in everyone if p.parent in parents} - descendants:
        descendants |= children
        parents = {p.pid for p in children}
    return descendants


def _has_marks(pid: int, marks: frozenset[bytes]) -> bool:
    """Whether a process of ours has the marks in its environment; we may not read that of other
    users.
    """
    try:
        if not marks or os.stat(f"/proc/{pid}").st_uid != os.geteuid():
            return False
        with open(f"/proc/{pid}/environ", "rb") as file:
            return marks <= set(file.read().split(b"\0"))
    except OSError:
        return False


def _start_time_of(stat: list[bytes]) -> int:
    return int(stat[19]) if stat else -1


def _stat(pid: str) -> list[bytes]:
    """State, parent, process group and so on, from Linux; empty if there is no such process."""
    if not pid.isdecimal():
        return []
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return []
