"""Processors that this user's processes use, and how many they may use. Sent together with
`_host_probe`.

Standard library only, from Python 3.8 on. Processes in other containers are not visible here.
"""

from __future__ import annotations

import os
import time
from typing import Any


def read_cpu_seconds() -> tuple[float, dict[str, float]]:
    """The present time, and the CPU seconds that each of this user's processes has used so far."""
    seconds_by_pid: dict[str, float] = {}
    me, tick = os.getuid(), os.sysconf("SC_CLK_TCK")
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            if os.stat(f"/proc/{pid}").st_uid == me:
                with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                    fields = file.read().rpartition(")")[2].split()
                # utime and stime of all its threads
                seconds_by_pid[pid] = (int(fields[11]) + int(fields[12])) / tick
        except (OSError, ValueError, IndexError):
            continue  # it has just ended
    return time.monotonic(), seconds_by_pid


def cores(before: tuple[float, dict[str, float]]) -> float | None:
    """The mean number of processors in use since `before`, without processes that ended since; None
    if that is too recent.
    """
    at, now = read_cpu_seconds()
    span = at - before[0]
    cpu_seconds = sum(max(0.0, seconds - before[1].get(pid, 0.0)) for pid, seconds in now.items())
    return cpu_seconds / span if span >= 0.15 else None


def count_cpus() -> float:
    """The processors of our CPU affinity, or the cgroup's quota if that is less."""
    quotas: list[Any] = [_quota(_read_fields("/sys/fs/cgroup/cpu.max"))]
    old = "/sys/fs/cgroup/cpu/cpu.cfs_"
    quotas.append(_quota([*_read_fields(f"{old}quota_us"), *_read_fields(f"{old}period_us")]))
    most: float = min([float(len(os.sched_getaffinity(0))), *(quota for quota in quotas if quota)])
    return most


def _quota(fields: list[str]) -> float | None:
    if len(fields) != 2 or not all(word.isdecimal() for word in fields) or int(fields[1]) == 0:
        return None  # `max`, -1, or no such file: there is none
    return int(fields[0]) / int(fields[1])


def _read_fields(path: str) -> list[str]:
    try:
        with open(path, encoding="ascii") as file:
            return file.read().split()
    except (OSError, ValueError):
        return []
