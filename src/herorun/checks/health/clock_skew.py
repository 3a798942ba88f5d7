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
from typing import ClassVar

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
    """Differences up to `skew` are ignored. A time that is more than `max_skew` before its cause
    belongs to another job.
    """

    RENAMED: ClassVar = {"most": "max_skew"}

    skew: timedelta = SKEW
    max_skew: timedelta = timedelta(days=1)


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
    """One verdict for each clock: the scheduler's, the store's, the log's, the tracker's. A clock
    whose times cannot be compared passes no check, so it ends no alert.
    """
    scheduler_times = _scheduler_times(job)
    store_times = _store_times(checkpoints, lease)
    clocks = (
        _Clock(
            "the scheduler's clock",
            _lead(scheduler_times, now.at),
            _job_before_launch(job, history),
        ),
        _Clock(
            "the store's clock",
            _lead(store_times, now.at),
            _heartbeat_before_tick(lease, history) if store_times else None,
        ),
        _Clock("the log's clock", timedelta(), _log_before_launch(log, history)),
        _Clock("the tracker's clock", timedelta(), _rows_before_launch(metrics, history)),
    )
    verdicts = [verdict for clock in clocks for verdict in _judge(clock, limits)]
    return verdicts or [not_applicable("no time by another clock could be compared")]


@dataclass(frozen=True)
class _Clock:
    """How far a clock differs, by the times that are there."""

    name: str
    ahead: timedelta
    behind: timedelta | None  # None: nothing was read that would show it


def _judge(clock: _Clock, limits: Limits) -> list[Verdict]:
    limit = f"the limit is {format_span(limits.skew)}"
    if clock.ahead > limits.skew:
        message = f"{clock.name} is {format_span(clock.ahead)} ahead of this machine's; {limit}"
        return [failed(message, subject=clock.name)]
    if clock.behind is None:
        return []
    if limits.skew < clock.behind <= limits.max_skew:
        difference = f"at least {format_span(clock.behind)} behind this machine's"
        return [failed(f"{clock.name} is {difference}; {limit}", subject=clock.name)]
    message = f"no timestamp shows that {clock.name} is wrong"
    if clock.behind > limits.max_skew:
        message += (
            f"; one timestamp counts as another job's, because it is more than "
            f"{format_span(limits.max_skew)} too early"
        )
    return [passed(message, subject=clock.name)]


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
    """When the current instance was launched: a correct clock dates none of its events earlier."""
    return history.current.intended if history.current else None


def _behind(at: datetime | None, cause: datetime | None) -> timedelta | None:
    return cause - at if at and cause else None


def _job_before_launch(job: Job | Nothing | Unavailable, history: History) -> timedelta | None:
    current, times = history.current, _scheduler_times(job)
    if not isinstance(job, Job) or current is None or job.instance != current.name or not times:
        return None
    differences = [_behind(at, current.intended) for at in (job.submitted, job.started)]
    return max((each for each in differences if each is not None), default=timedelta())


def _log_before_launch(log: JobLog | Nothing | Unavailable, history: History) -> timedelta | None:
    return _behind(log.changed_at, _earliest_launch(history)) if isinstance(log, JobLog) else None


def _rows_before_launch(
    metrics: Metrics | Nothing | Unavailable, history: History
) -> timedelta | None:
    """How far rows are dated before the tick that preceded their arrival; of a run's first
    instance, also before its launch. Of a later instance without a row of its own, the newest row
    is an earlier one's, and shows nothing.
    """
    if not isinstance(metrics, Metrics):
        return None
    since_observation = timedelta(seconds=metrics.behind)
    if len(history.instances) != 1:
        shows_nothing = not metrics.behind and not history.wrote(metrics)
        return None if shows_nothing else since_observation
    before_launch = _behind(metrics.stamped_at, _earliest_launch(history))
    return since_observation if before_launch is None else max(since_observation, before_launch)


def _heartbeat_before_tick(
    lease: LeaseSeen | Nothing | Unavailable, history: History
) -> timedelta | None:
    """The last tick renewed the lease, and this tick is the first to read the time that the store
    gave the renewal. A tick that could not read everything may not have renewed it. Without a lease
    of ours only checkpoints show the store's clock, and those only that it is ahead.
    """
    if not isinstance(lease, LeaseSeen) or not lease.mine or history.last_tick is None:
        return timedelta()
    if not history.last_tick_whole or lease.unchanged_since <= history.last_tick:
        return None
    return _behind(lease.modified, history.last_tick)
