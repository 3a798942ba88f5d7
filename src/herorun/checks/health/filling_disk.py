"""A disk will be full within days.

Why: a full disk stops checkpoints half-way and blinds the monitor; it is easy to fix in advance.
Fix: free space, or let the run write elsewhere; herorun never deletes the run's data by itself.
Source: the limit is the time until the disk is full, not per cent, because people ignore an alarm
that comes too early; while the pace is unknown, `bytes` and `inodes` are the limits.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import Disks, Now
from herorun.core.finding import Verdict
from herorun.core.health.disk_forecast import Headroom, room
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import NonNegativeInt, PositiveFloat


@dataclass(frozen=True)
class Limits(Headroom):
    """Fires if the disk will be full in less than `days`, or if less than `bytes` or `inodes` are
    free. The forecast uses the growth since a reading that is at least `pace` old.
    """

    days: PositiveFloat = 2.0
    bytes: NonNegativeInt = 2 << 30
    inodes: NonNegativeInt = 10_000


@check(Gate.HEALTH, Response.WARN, topic=Topic.MONITOR, inhibited_by=("full-disk",))
def filling_disk(disks: Disks, now: Now, limits: Limits) -> list[Verdict]:
    return room(disks, now.at, limits)
