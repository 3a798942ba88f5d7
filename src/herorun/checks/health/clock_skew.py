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
    """One verdict for each clock of which a time was read: the scheduler's, the store's, the log's,
    the tracker's. A clock that was not read ends no alert.
    """
    scheduler_times = _scheduler_times(job)
    store_times = _store_times(checkpoints, lease)
    clocks = (
        _Clock(
            "the scheduler's clock",
            bool(scheduler_times),
            _lead(scheduler_times, now.at),
            _job_before_launch(job, history),
        ),
        _Clock(
            "the store's clock",
            bool(store_times),
            _lead(store_times, now.at),
            _heartbeat_before_tick(lease, history),
        ),
        _Clock(
            "the log's clock",
            isinstance(log, JobLog) and log.changed_at is not None,
            behind=_log_before_launch(log, history),
        ),
        _Clock(
            "the tracker's clock",
            isinstance(metrics, Metrics),
            behind=_rows_before_launch(metrics, history),
        ),
    )
    verdicts = [_judge(clock, limits) for clock in clocks if clock.was_read]
    return verdicts or [not_applicable("no time by another clock was read")]


@dataclass(frozen=True)
class _Clock:
    """How far a clock differs, as far as its times show."""

    name: str
    was_read: bool
    ahead: timedelta = timedelta()
    behind: timedelta = timedelta()


def _judge(clock: _Clock, limits: Limits) -> Verdict:
    limit = f"the limit is {format_span(limits.skew)}"
    if clock.ahead > limits.skew:
        message = f"{clock.name} is {format_span(clock.ahead)} ahead of this machine's; {limit}"
        return failed(message, subject=clock.name)
    if limits.skew < clock.behind <= limits.most:
        difference = f"at least {format_span(clock.behind)} behind this machine's"
        return failed(f"{clock.name} is {difference}; {limit}", subject=clock.name)
    message = f"no time that was read shows {clock.name} to be wrong"
    return passed(message, subject=clock.name)


def _scheduler_times(job: Job | Nothing | Unavailable) -> list[datetime]:
    times = (job.started, job.ended, job.submitted) if isinstance(job, Job) else ()
    return [at for at in times if at]


def _store_times(
    checkpoints: Checkpoints | Nothing | Unavailable, lease: LeaseSeen | Nothing | Unavailable
) -> list[datetime]:
    candidates = checkpoints.candidates if isinstance(checkpoints, Checkpoints) else ()
    beat = [lease.modified] if isinstance(lease, LeaseSeen) else []
    return [at for at in (*(c.modified for c in candidates), *beat) if at]


def _lead(times: list[datetime], now: datetime) -> timedelta:
    return max((at - now for at in times), default=timedelta())


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
