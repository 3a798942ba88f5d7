"""A disk will be full within days.

Why: a full disk stops checkpoints half-way and blinds the monitor; in advance it is mended in a minute.
Fix: make room, or let the run write elsewhere; nothing of the run's own is ever deleted by itself.
Source: days of headroom and not percent: an alarm that comes too early is ignored. The floors are for disks whose
pace nobody knows yet.
"""

from dataclasses import dataclass
from datetime import timedelta

from pydantic import NonNegativeInt, PositiveFloat

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import Disks, Now
from herorun.core.finding import Verdict, failed, passed
from herorun.core.health.headroom import shortage


@dataclass(frozen=True)
class Limits:
    """Fewer `days` of headroom at the pace since a look of at least `pace` ago; or less free than the floors."""

    days: PositiveFloat = 2.0
    bytes: NonNegativeInt = 2 << 30
    inodes: NonNegativeInt = 10_000
    pace: timedelta = timedelta(hours=6)


@check(Gate.HEALTH, Response.WARN, topic=Topic.MONITOR)
def filling_disk(disks: Disks, now: Now, limits: Limits) -> list[Verdict]:
    """One answer for each path that is short."""
    short = [
        (path, shortage(disks, path, now.at, limits.days, limits.bytes, limits.inodes, limits.pace))
        for path in sorted(disks.now)
    ]
    return [failed(f"{path}: {said}", subject=path) for path, said in short if said] or [
        passed(f"there is room for {', '.join(sorted(disks.now)) or 'nothing that was asked about'}")
    ]
