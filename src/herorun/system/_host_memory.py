"""Reads the memory cgroup of a process on the machine. Its source is sent before `_host_probe`.

Standard library only, from Python 3.8 on.
"""

from __future__ import annotations

from typing import Any

CACHES = ("inactive", "active")


def memory(pid: Any) -> dict[str, Any]:
    """The cgroup nearest to its limit, of this process's and those above it; and the number of OOM
    kills.
    """
    with open(f"/proc/{pid}/cgroup", encoding="utf-8") as file:
        parts = [line.rstrip("\n").split(":", 2) for line in file]
    own = {part[1]: part[2] for part in parts if len(part) == 3}
    old = next((path for names, path in own.items() if "memory" in names.split(",")), None)
    cgroups = [each for each in (_new(own.get("")), _old(old)) if each]
    return (
        max(cgroups, key=lambda each: each["share"] or 0.0)
        if cgroups
        else {"why": "no memory cgroup shows it"}
    )


def _new(path: str | None) -> dict[str, Any] | None:
    return _nearest("/sys/fs/cgroup", path, "memory.current", "memory.max", "", "memory.events")


def _old(path: str | None) -> dict[str, Any] | None:
    top, limit = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
    return _nearest(top, path, "memory.usage_in_bytes", limit, "total_", "memory.oom_control")


def _nearest(
    top: str, path: str | None, now: str, most: str, prefix: str, events: str
) -> dict[str, Any] | None:
    """The cgroup nearest to its limit. The cache of files does not count, nor does the part that
    was read twice (`active_file`), such as a data set: the kernel frees it before it kills a
    process.
    """
    best: dict[str, Any] | None = None
    for folder in _upwards(top, path):
        usage, limit = _read_integer(f"{folder}/{now}"), _read_integer(f"{folder}/{most}")
        if usage is None:
            continue
        caches = (_field(f"{folder}/memory.stat", f"{prefix}{each}_file") for each in CACHES)
        working_set = max(0, usage - sum(size or 0 for size in caches))
        share = working_set / limit if limit and limit < 1 << 60 else None
        if best is None or (share or 0.0) > (best["share"] or 0.0):
            kills = _field(f"{folder}/{events}", "oom_kill")
            best = {
                "used": working_set,
                "limit": limit if share is not None else None,
                "share": share,
            }
            best["oom_kill"] = kills
    return best


def _upwards(top: str, path: str | None) -> list[str]:
    """The folders from the cgroup up to the root. Inside a container the path may not exist; then
    the root is the cgroup.
    """
    if path is None:
        return []
    parts = [part for part in path.split("/") if part and part != ".."]
    return ["/".join([top, *parts[:end]]) for end in range(len(parts), -1, -1)]


def _read_integer(path: str) -> int | None:
    try:
        with open(path, encoding="ascii") as file:
            word = file.read().strip()
    except OSError:
        return None
    return int(word) if word.isdecimal() else None


def _field(path: str, name: str) -> int | None:
    try:
        with open(path, encoding="ascii") as file:
            fields = dict(line.split()[:2] for line in file if len(line.split()) > 1)
    except OSError:
        return None
    return int(fields[name]) if fields.get(name, "").isdecimal() else None
