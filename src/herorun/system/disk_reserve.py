"""A reserve of disk space for the last writes on a full disk.

A file of a few MB is kept next to the state folders of a clone. The first write that finds no space
releases it and is tried again, so that the record, an alert and a relaunch still succeed. Caches
and the evidence for a replay never use it: they stop earlier.
"""

import contextlib
import errno
import os
from pathlib import Path

from herorun.core.health.disk_forecast import RESERVE

FULL = (errno.ENOSPC, errno.EDQUOT)
_reserves: set[Path] = set()  # those that this process knows of


def keep_reserve(path: Path) -> None:
    """Take the room as long as there is plenty; without it nothing is lost on a disk that has
    some.
    """
    _reserves.add(path)
    with contextlib.suppress(OSError):
        if not path.exists() and room_at(path.parent) >= 4 * RESERVE:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _fill(path)


def give_up_reserve(target: Path) -> bool:
    """Make room on the disk that this path lies on; whether there was a reserve left."""
    sizes = [_removed(path) for path in reserves_at(target)]
    return any(sizes)


def reserves_at(target: Path) -> list[Path]:
    """Those on the disk that this path lies on: a process of its own, such as a job's supervisor,
    may give them up too.
    """
    return [path for path in sorted(_reserves) if _same_disk(path, target)]


def must_have_room(path: Path) -> None:
    """ENOSPC where what can be made again would take the last room, which is for the record."""
    free = room_at(path)
    if free < RESERVE:
        why = f"{free >> 10} KiB are free, which are left for the record"
        raise OSError(errno.ENOSPC, why, str(path))


def room_at(path: Path) -> int:
    """Bytes that are free where it lies, or would be made."""
    while not path.exists() and path != path.parent:
        path = path.parent
    stats = os.statvfs(path)
    return stats.f_bavail * stats.f_frsize


def _fill(path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, RESERVE)
    except OSError:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)


def _removed(path: Path) -> bool:
    try:
        path.unlink()
    except OSError:
        return False
    return True


def _same_disk(reserve: Path, path: Path) -> bool:
    while not path.exists() and path != path.parent:
        path = path.parent
    try:
        return reserve.stat().st_dev == path.stat().st_dev
    except OSError:
        return False
