"""How long a disk still lasts. Pure: the checks choose the limits.

Source: days of headroom and not percent: an alarm that comes too early is ignored. The floors are
for disks whose pace is not known yet.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from herorun.core.evidence import Disk, Disks
from herorun.core.finding import Verdict, count, failed, not_applicable, passed
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import NonNegativeInt, PositiveFloat

DAY = timedelta(days=1)
RESERVE = 4 << 20  # bytes that a clone keeps for its last words
FULL = 2 * RESERVE  # bytes; a disk that has less is full, also right after the reserve was given up


@dataclass(frozen=True)
class Headroom:
    """Fewer `days` of headroom at the pace since a look of at least `pace` ago; or less free than
    the floors.
    """

    days: PositiveFloat
    bytes: NonNegativeInt
    inodes: NonNegativeInt
    pace: timedelta = timedelta(hours=6)


def room(disks: Disks, at: datetime, least: Headroom) -> list[Verdict]:
    """One verdict for each path with too little headroom."""
    short = [(path, shortage(disks, path, at, least)) for path in sorted(disks.now)]
    return [failed(f"{path}: {reason}", subject=path) for path, reason in short if reason] or [
        passed(f"there is room on the disks of {', '.join(sorted(disks.now))}")
        if disks.now
        else not_applicable("no disk was checked")
    ]


def shortage(disks: Disks, path: str, at: datetime, least: Headroom) -> str:
    """A message about the space that is short; empty if there is enough."""
    disk = disks.now[path]
    if disk.free < max(least.bytes, FULL):
        limit = _size(max(least.bytes, FULL))
        return f"{format_room(replace(disk, inodes=None))}; the limit is {limit}"
    if disk.inodes is not None and disk.inodes < least.inodes:
        files = count(disk.inodes, "more file")
        return f"room for {files} (free inodes); the limit is {count(least.inodes, 'file')}"
    days = headroom(
        disk, disks.before.get(path), at - disks.before_at if disks.before_at else None, least.pace
    )
    if days is not None and days < least.days:
        return (
            f"it will be full in {days:.1f} days at its recent pace ({_size(disk.free)} are free); "
            f"the limit is {count(least.days, 'day')}"
        )
    return ""


def is_full(disk: Disk) -> bool:
    """Nothing can be written there. One too small for a reserve is not full while most of it is
    free.

    >>> is_full(Disk(7 << 20, 1 << 40)), is_full(Disk(7 << 20, 8 << 20))
    (True, False)
    >>> is_full(Disk(1 << 20, 8 << 20))
    True
    """
    return disk.free < min(FULL, disk.total // 2) or disk.inodes == 0 or disk.free == 0


def format_room(disk: Disk) -> str:
    """
    >>> format_room(Disk(3 << 20, 1 << 40)), format_room(Disk(1 << 30, 1 << 40, 0))
    ('3 MiB of 1024.0 GiB are free', 'room for 0 more files')
    """
    if disk.inodes == 0:
        return "room for 0 more files"
    return f"{_size(disk.free)} of {_size(disk.total)} are free"


def headroom(
    disk: Disk, before: Disk | None, span: timedelta | None, pace: timedelta
) -> float | None:
    """Days until it is full; None if it does not fill, or was measured for less than `pace`."""
    if before is None or span is None or span < pace or before.total != disk.total:
        return None
    consumption = before.free - disk.free
    return disk.free / consumption * (span / DAY) if consumption > 0 else None


def _size(count: int) -> str:
    """
    >>> _size(3 << 29)
    '1.5 GiB'
    """
    return f"{count / (1 << 30):.1f} GiB" if count >= 1 << 30 else f"{count / (1 << 20):.0f} MiB"
