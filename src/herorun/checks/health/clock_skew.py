"""A clock differs from this machine's: a time is in the future, or before the launch or the tick
that it follows.

Why: ages decide whether a run hangs, a lease is stale or a checkpoint is old; a fast clock hides a
hang, and a slow one makes recent things look old.
Fix: set the clock of the host that the message names, or of this one (NTP); until then read ages
with care.
Source: 60 seconds are more than any network delay, and less than any limit used here. A clock is
slow if, by its times, a job began before its submission, or its log or its first rows are older
than the launch. It is also slow if the lease's heartbeat is older than the tick that wrote it. A
difference of more than a day means another job, not a clock.
"""

from datetime import datetime, timedelta

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.clock_skew import SKEW
from herorun.core.durations import format_span
from herorun.core.evidence import (
    Checkpoints,
    History,
    Job,
    JobLog,
    LeaseSeen,
    Metrics,
    Nothing,
    Now,
    Unavailable,
)
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Limits:
    """Differences up to `skew` are ignored. A time that is more than `most` before its cause
    belongs to another job.
    """

    skew: timedelta = SKEW
    most: timedelta = timedelta(days=1)


@check(Gate.HEALTH, Response.WARN, topic=Topic.MONITOR)
def clock_skew(
    job: Job | Nothing | Unavailable,
    checkpoints: Checkpoints | Nothing | Unavailable,
    lease: LeaseSeen | Nothing | Unavailable,
    log: JobLog | Nothing | Unavailable,
    metrics: Metrics | Nothing | Unavailable,
    history: History,
    now: Now,
    limits: Limits,
) -> list[Verdict]:
    """One verdict for each clock that differs from ours: the scheduler's, the store's, the log's,
    the tracker's.
    """
    scheduler = [job.started, job.ended, job.submitted] if isinstance(job, Job) else []
    store = (
        [c.modified for c in checkpoints.candidates] if isinstance(checkpoints, Checkpoints) else []
    )
    store += [lease.modified] if isinstance(lease, LeaseSeen) else []
    clocks = (("the scheduler's clock", scheduler), ("the store's clock", store))
    leading = [(name, _lead(times, now.at)) for name, times in clocks]
    limit = f"; the limit is {format_span(limits.skew)}"
    wrong = [
        failed(f"{name} is {format_span(by)} ahead of ours{limit}", subject=name)
        for name, by in leading
        if by > limits.skew
    ]
    effects = (
        ("the scheduler's clock", _job_before_launch(job, history)),
        ("the store's clock", _heartbeat_before_tick(lease, history)),
        ("the log's clock", _log_before_launch(log, history)),
        ("the tracker's clock", _rows_before_launch(metrics, history)),
    )
    wrong += [
        failed(f"{name} is at least {format_span(by)} behind ours{limit}", subject=name)
        for name, by in effects
        if limits.skew < by <= limits.most
    ]
    times = [*scheduler, *store, *(source for source in (log, metrics) if not _is_missing(source))]
    if not wrong and not any(times):
        return [not_applicable("no time by another clock was read")]
    return wrong or [passed("nothing that was read is dated in the future, or before its cause")]


def _is_missing(source: object) -> bool:
    return isinstance(source, Nothing | Unavailable)


def _lead(times: list[datetime | None], now: datetime) -> timedelta:
    return max((at - now for at in times if at), default=timedelta())


def _earliest_launch(history: History) -> datetime | None:
    """When the current instance was launched: a correct clock dates nothing of it earlier."""
    return history.current.intended if history.current else None


def _behind(at: datetime | None, cause: datetime | None) -> timedelta:
    return cause - at if at and cause else timedelta()


def _job_before_launch(job: Job | Nothing | Unavailable, history: History) -> timedelta:
    current = history.current
    if not isinstance(job, Job) or current is None or job.instance != current.name:
        return timedelta()
    return max(_behind(at, current.intended) for at in (job.submitted, job.started))


def _log_before_launch(log: JobLog | Nothing | Unavailable, history: History) -> timedelta:
    return (
        _behind(log.changed_at, _earliest_launch(history))
        if isinstance(log, JobLog)
        else timedelta()
    )


def _rows_before_launch(metrics: Metrics | Nothing | Unavailable, history: History) -> timedelta:
    """How far rows are dated before the tick that preceded their arrival; of a run's first
    instance, also before its launch (a later instance's newest row may be an earlier one's).
    """
    if not isinstance(metrics, Metrics):
        return timedelta()
    since_observation = timedelta(seconds=metrics.behind)
    if len(history.instances) != 1:
        return since_observation
    return max(since_observation, _behind(metrics.stamped_at, _earliest_launch(history)))


def _heartbeat_before_tick(lease: LeaseSeen | Nothing | Unavailable, history: History) -> timedelta:
    """The last tick renewed the lease, and this tick is the first to read the time that the store
    gave the renewal. A tick that could not read everything may not have renewed it.
    """
    if not isinstance(lease, LeaseSeen) or not lease.mine or history.last_tick is None:
        return timedelta()
    if not history.last_tick_whole:
        return timedelta()
    return (
        _behind(lease.modified, history.last_tick)
        if lease.unchanged_since > history.last_tick
        else timedelta()
    )
