"""No row has arrived for too long, while the job makes progress.

Why: an empty panel does not mean that the run has ended; without rows no check detects spikes and
stalls, and a relaunch would kill a healthy job.
Fix: find out from the job's log (`herorun logs RUN`) why the tracker gets nothing (network, key, a
full disk, steps below its counter).
Source: as `stalled-steps`; a log that changed within 5 minutes shows progress.
"""

from datetime import timedelta
from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.durations import format_span
from herorun.core.evidence import (
    Cadence,
    Checkpoints,
    FinalStep,
    History,
    Job,
    JobLog,
    Metrics,
    Nothing,
    Now,
    Unavailable,
)
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown
from herorun.core.health.liveness import FRESH, RowPatience, rows_since, sign_of_life
from herorun.core.health.preconditions import not_running
from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Limits(RowPatience):
    """As for `stalled-steps`; a log that changed within `max_log_age` shows progress."""

    RENAMED: ClassVar = {**RowPatience.RENAMED, "fresh": "max_log_age"}

    max_log_age: timedelta = FRESH


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.MONITOR)
def silent_tracker(
    job: Job,
    metrics: Metrics | Nothing,
    log: JobLog | Nothing | Unavailable,
    checkpoints: Checkpoints | Nothing | Unavailable,
    history: History,
    now: Now,
    cadence: Cadence,
    final: FinalStep | Nothing | Unavailable,
    limits: Limits,
) -> Verdict:
    if verdict := not_running(job):
        return verdict
    since, wrote = rows_since(job, metrics, history, now.at)
    if since is None:
        return unknown(f"the start of {job.instance} is unknown", subject=job.instance)
    most = limits.startup
    if wrote and isinstance(metrics, Metrics):
        most = limits.between_rows(metrics, final, cadence)
    if now.at - since <= most:
        return passed(f"{job.instance} reported within {format_span(most)}", subject=job.instance)
    sign = sign_of_life(metrics, log, checkpoints, since, now.at, limits.max_log_age)
    if not sign:
        return not_applicable(
            "the rows have stopped, and nothing shows progress: `stalled-steps` judges it",
            subject=job.instance,
        )
    what = "no row" if wrote else "no row at all"
    idle = format_span(now.at - since)
    limit = f"the limit is {format_span(most)}"
    return failed(f"{job.instance}: {what} for {idle} ({limit}), but {sign}", subject=job.instance)
