"""Rows, checkpoints or the log of a job continue after its scheduler says that it ended.

Why: either the scheduler is wrong, or a second process writes under this run's name. This only
warns; rows or a heartbeat long after the end also fire `second-writer`, which prevents a relaunch.
Fix: look for a process of the run on its machines, and for another run with the same tracker id or
path; end the other writer before anything is launched.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from herorun.core.check import Gate, Hold, Response, Topic, check
from herorun.core.evidence import (
    Checkpoints,
    History,
    Job,
    JobLog,
    Metrics,
    Nothing,
    Now,
    Unavailable,
)
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown

# after the process has ended, its client may still send, and a store may still date its writes
CLOSING = timedelta(minutes=2)


@check(Gate.HEALTH, Response.WARN, hold=Hold(ticks=2), topic=Topic.JOB)
def writes_after_end(
    job: Job,
    metrics: Metrics | Nothing | Unavailable,
    checkpoints: Checkpoints | Nothing | Unavailable,
    log: JobLog | Nothing | Unavailable,
    history: History,
    now: Now,
) -> list[Verdict]:
    """One verdict for each source that continues or could not be read. Times in the future are
    ignored: they come from a wrong clock.
    """
    if not job.state.is_final or job.state.in_doubt:
        return [not_applicable(f"{job.instance} {job.state.predicate}")]
    ended_at = job.ended or next(
        (end.at for end in history.ends if end.instance == job.instance), None
    )
    if ended_at is None:
        return [not_applicable(f"the end of {job.instance} is unknown")]
    late_writes = [
        failed(
            f"{message} until {last:%H:%M} UTC, but {job.instance} ended ({job.state}) at "
            f"{ended_at:%H:%M} UTC: look for another process that writes there",
            subject=what,
        )
        for what, message, last in _list_late_writes(metrics, checkpoints, log)
        if ended_at + CLOSING < last <= now.at
    ]
    gaps = [
        unknown(
            f"could not read whether {what} came after the end of {job.instance}: {source.why}",
            subject=subject,
        )
        for subject, what, source in (
            ("rows", "rows", metrics),
            ("checkpoints", "checkpoints", checkpoints),
            ("log", "log lines", log),
        )
        if isinstance(source, Unavailable)
    ]
    return [*late_writes, *gaps] or [
        passed(f"no row, checkpoint or log line is later than the end of {job.instance}")
    ]


def _list_late_writes(
    metrics: Metrics | Nothing | Unavailable,
    checkpoints: Checkpoints | Nothing | Unavailable,
    log: JobLog | Nothing | Unavailable,
) -> Iterator[tuple[str, str, datetime]]:
    if isinstance(metrics, Metrics):
        yield "rows", "rows came", metrics.stamped_at
    newest = checkpoints.newest if isinstance(checkpoints, Checkpoints) else None
    if newest and newest.modified:
        yield "checkpoints", "checkpoints came", newest.modified
    if isinstance(log, JobLog) and log.changed_at:
        yield "log", "the log changed", log.changed_at
