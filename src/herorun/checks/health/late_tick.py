"""This babysitter's own last tick is longer ago than its cadence allows.

Why: nothing was monitored in between, and a loop that is late once is often late again.
Fix: find in the babysitter's log (`.herorun/RUN/babysit.log`) what it waited for; do not run it on
a host that sleeps or is overloaded.
Source: after two cadences at least one tick was missed; less than two minutes is never late.
"""

from datetime import timedelta
from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.contract import Contract
from herorun.core.durations import format_duration, format_span
from herorun.core.evidence import Cadence, History, Job, JobState, Nothing, Now, Unavailable
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat


@dataclass(frozen=True)
class Limits:
    RENAMED: ClassVar = {"least": "min_delay"}

    cadences: PositiveFloat = 2.0
    min_delay: timedelta = timedelta(minutes=2)


@check(Gate.HEALTH, Response.WARN, topic=Topic.MONITOR)
def late_tick(
    history: History,
    contract: Contract,
    job: Job | Nothing | Unavailable,
    cadence: Cadence,
    now: Now,
    limits: Limits,
) -> Verdict:
    if contract.babysit.declined:
        return not_applicable(f"the contract declines a babysitter: {contract.babysit.declined}")
    if isinstance(job, Job) and job.state is JobState.SUCCEEDED:
        return not_applicable(f"{job.instance} ended with success: nothing is left to monitor")
    if end := history.end_by_order:
        return not_applicable(f"{end.instance} was stopped by order: nothing is left to monitor")
    current = history.current
    times = [history.last_tick, current.started if current else None]
    last = max((at for at in times if at), default=None)
    if last is None:
        return not_applicable("this is the first tick")
    ago = now.at - last
    most = max(limits.min_delay, limits.cadences * cadence.every)
    if ago > most:
        message = (
            f"no tick for {format_span(ago)}, since {last:%Y-%m-%d %H:%M} UTC; the cadence is "
            f"{format_duration(cadence.every)} and the limit {format_span(most)}"
        )
        return failed(message)
    return passed(f"the last tick was at {last:%Y-%m-%d %H:%M} UTC")
