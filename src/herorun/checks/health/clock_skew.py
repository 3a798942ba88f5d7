"""Clocks differ: something is dated in the future.

Why: ages decide whether a run hangs, a lease is stale or a checkpoint is old; a clock that runs ahead hides a hang.
Fix: set the clock of the host that it names, or of this one (NTP); until then read ages with care.
Source: 60 seconds are more than any network delay, and less than any limit that we judge by.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import Checkpoints, Job, LeaseSeen, Nothing, Now, Unavailable
from herorun.core.finding import Verdict, failed, passed


@dataclass(frozen=True)
class Limits:
    skew: timedelta = timedelta(seconds=60)


@check(Gate.HEALTH, Response.WARN, topic=Topic.MONITOR)
def clock_skew(
    job: Job | Nothing | Unavailable,
    checkpoints: Checkpoints | Nothing | Unavailable,
    lease: LeaseSeen | Nothing | Unavailable,
    now: Now,
    limits: Limits,
) -> list[Verdict]:
    """One answer for each clock that runs ahead of ours: the scheduler's, the store's."""
    scheduler = [job.started, job.ended, job.submitted] if isinstance(job, Job) else []
    store = [c.modified for c in checkpoints.candidates] if isinstance(checkpoints, Checkpoints) else []
    store += [lease.modified] if isinstance(lease, LeaseSeen) else []
    clocks = (("the scheduler's clock", scheduler), ("the store's clock", store))
    ahead = [(name, _ahead(times, now.at)) for name, times in clocks]
    wrong = [
        failed(f"{name} is {by.total_seconds():.0f} s ahead of ours", subject=name)
        for name, by in ahead
        if by > limits.skew
    ]
    return wrong or [passed("nothing is dated in the future")]


def _ahead(times: list[datetime | None], now: datetime) -> timedelta:
    return max((at - now for at in times if at), default=timedelta())
