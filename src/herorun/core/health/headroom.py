"""How long a disk still lasts. Pure."""

from datetime import datetime, timedelta

from herorun.core.evidence import Disk, Disks

DAY = timedelta(days=1)


def shortage(
    disks: Disks, path: str, at: datetime, days: float, floor: int, inodes: int, pace: timedelta
) -> str:
    """What there is too little of, in words; empty where there is enough."""
    disk = disks.now[path]
    if disk.free < floor:
        return f"{_size(disk.free)} of {_size(disk.total)} are free"
    if disk.inodes is not None and disk.inodes < inodes:
        return f"room for {disk.inodes} more files"
    left = headroom(disk, disks.before.get(path), at - disks.before_at if disks.before_at else None, pace)
    if left is not None and left < days:
        return f"full in {left:.1f} days at the pace of the last hours ({_size(disk.free)} are free)"
    return ""


def headroom(disk: Disk, before: Disk | None, span: timedelta | None, pace: timedelta) -> float | None:
    """Days; None where it does not fill, or nobody has looked for long enough to tell."""
    if before is None or span is None or span < pace or before.total != disk.total:
        return None
    used = before.free - disk.free
    return disk.free / used * (span / DAY) if used > 0 else None


def _size(count: int) -> str:
    """
    >>> _size(3 << 29)
    '1.5 GiB'
    """
    return f"{count / (1 << 30):.1f} GiB" if count >= 1 << 30 else f"{count / (1 << 20):.0f} MiB"
