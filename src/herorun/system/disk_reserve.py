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
_reserves: set[Path] = set()  # the reserves of this process


def keep_reserve(path: Path) -> None:
    """Create the reserve while there is enough space."""
    _reserves.add(path)
    with contextlib.suppress(OSError):
        if not path.exists() and room_at(path.parent) >= 4 * RESERVE:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _fill(path)


def give_up_reserve(target: Path) -> bool:
    """Release the reserve on the disk of this path. Returns whether there was one."""
    sizes = [_remove_file(path) for path in reserves_at(target)]
    return any(sizes)


def reserves_at(target: Path) -> list[Path]:
    """The reserves on the disk of this path; another process, such as a job's supervisor, may
    release them too.
    """
    return [path for path in sorted(_reserves) if _same_disk(path, target)]


def must_have_room(path: Path) -> None:
    """Raise ENOSPC if a file that can be made again would take the last space, which is kept for
    the record.
    """
    free = room_at(path)
    if free < RESERVE:
        why = f"{free >> 10} KiB are free, which are left for the record"
        raise OSError(errno.ENOSPC, why, str(path))


def room_at(path: Path) -> int:
    """Free bytes at the path, or at its nearest existing parent."""
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


def _remove_file(path: Path) -> bool:
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
