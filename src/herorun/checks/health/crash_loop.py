"""The back end restarts the job again and again.

Why: the scheduler reports a running job that trains nothing; each start costs money.
Fix: read the end of an attempt in the log (`herorun logs RUN`); stop the job (`herorun stop RUN`),
and fix the cause before you launch again (`herorun launch RUN`).
Source: NVIDIA's resiliency extension calls five starts within 30 minutes a storm. Check-in's
attempt numbers count the starts.
"""

from datetime import datetime, timedelta
from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.durations import format_span
from herorun.core.evidence import History, Job, Now
from herorun.core.finding import Verdict, count, failed, not_applicable, passed
from herorun.core.health.preconditions import not_running
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveInt


@dataclass(frozen=True)
class Limits:
    """At least `starts` starts after the first one, within the time `window`."""

    RENAMED: ClassVar = {"within": "window"}

    starts: PositiveInt = 5
    window: timedelta = timedelta(minutes=30)


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.JOB)
def crash_loop(job: Job, history: History, now: Now, limits: Limits) -> Verdict:
    """Attempts between two ticks are counted as evenly spaced, so that a pause of the monitor does
    not look like a storm.
    """
    if verdict := not_running(job):
        return verdict
    if not history.starts:
        return not_applicable(f"{job.instance} has not checked in", subject=job.instance)
    start_count = _count_attempts(history, now.at - limits.window, now.at)
    newest = history.starts[-1][1]
    if start_count >= limits.starts:
        message = (
            f"{job.instance} was started {count(round(start_count), 'time')} within "
            f"{format_span(limits.window)} (the limit is {limits.starts}); "
            f"it is at attempt {newest}"
        )
        return failed(message, subject=job.instance)
    return passed(f"{job.instance} is at attempt {newest}", subject=job.instance)


def _count_attempts(history: History, since: datetime, now: datetime) -> float:
    """The attempts in that time, after the first one that a tick recorded."""
    count = 0.0
    for (before, first), (after, last) in zip(history.starts, history.starts[1:], strict=False):
        shared_seconds = (min(after, now) - max(before, since)).total_seconds()
        interval = (after - before).total_seconds()
        if shared_seconds > 0 and last > first:
            count += (last - first) * shared_seconds / interval
    return count
