"""The job makes progress, but its log does not change.

Why: block-buffered output looks like a hang, and the lines that say why a job died are lost with
it.
Fix: set PYTHONUNBUFFERED=1 in `[command] env`, or run `python -u`, at the next launch. This does
not affect the training.
Source: the babysitters' patterns for remote machines: an unchanged log next to newer checkpoints is
a buffer, not a hang.
"""

from datetime import timedelta
from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.durations import format_span
from herorun.core.evidence import Checkpoints, Job, JobLog, Metrics, Nothing, Now, Unavailable
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.health.preconditions import not_running
from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Limits:
    """Fires if the log is older than the newest row or checkpoint by more than `max_lag`."""

    RENAMED: ClassVar = {"behind": "max_lag"}

    max_lag: timedelta = timedelta(minutes=15)


@check(Gate.HEALTH, Response.INFO, topic=Topic.MONITOR)
def buffered_output(
    job: Job,
    log: JobLog,
    metrics: Metrics | Nothing | Unavailable,
    checkpoints: Checkpoints | Nothing | Unavailable,
    now: Now,
    limits: Limits,
) -> Verdict:
    if verdict := not_running(job):
        return verdict
    if log.changed_at is None:
        return not_applicable(
            f"it is unknown when the log of {job.instance} changed", subject=job.instance
        )
    limit = format_span(limits.max_lag)
    newest = checkpoints.newest if isinstance(checkpoints, Checkpoints) else None
    signs = {
        "a step was reported": metrics.advanced_at if isinstance(metrics, Metrics) else None,
        f"checkpoint {newest.step if newest else 0} was saved": newest.modified if newest else None,
    }
    for what, at in signs.items():
        if at and log.changed_at + limits.max_lag < at <= now.at:
            message = (
                f"the log of {job.instance} ends at {log.changed_at:%H:%M} UTC, but {what} at "
                f"{at:%H:%M} UTC"
            )
            cause = f"it prints nothing, or its output is buffered; the limit is {limit}"
            return failed(f"{message}: {cause}", subject=job.instance)
    return passed(f"the log of {job.instance} advances with the job", subject=job.instance)
