"""A disk is full, or will be within hours.

Why: checkpoints are truncated, rows are lost, and the babysitter can no longer write.
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
from herorun.core.notify.escalation import EscalationReason


@dataclass(frozen=True)
class Limits(Headroom):
    """Fires if the disk will be full in less than `days`, or if less than `bytes` or `inodes` are
    free. The forecast uses the growth since a reading that is at least `pace` old.
    """

    days: PositiveFloat = 0.5
    bytes: NonNegativeInt = 512 << 20
    inodes: NonNegativeInt = 1_000


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.MONITOR, asks=EscalationReason.CLUSTER)
def full_disk(disks: Disks, now: Now, limits: Limits) -> list[Verdict]:
    return room(disks, now.at, limits)
