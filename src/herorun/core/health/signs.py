"""Signs that a job trains although its rows stand still."""

from datetime import datetime, timedelta

from herorun.core.evidence import Checkpoints, History, Job, JobLog, Metrics, Nothing, Unavailable

FRESH = timedelta(minutes=5)  # a log that changed so lately goes on
SKEW = timedelta(seconds=60)  # between our clock and the store's


def sign_of_life(
    metrics: Metrics | Nothing,
    log: JobLog | Nothing | Unavailable,
    checkpoints: Checkpoints | Nothing | Unavailable,
    since: datetime,
    now: datetime,
    fresh: timedelta = FRESH,
) -> str:
    """What goes on, in words; empty if nothing is seen to. `since` is when the rows stopped, or the job began."""
    newest = checkpoints.newest if isinstance(checkpoints, Checkpoints) else None
    reached = metrics.step if isinstance(metrics, Metrics) else 0
    if newest and newest.modified and newest.modified > since + SKEW and newest.step > reached:
        return f"checkpoint {newest.step} was saved at {newest.modified:%H:%M} UTC"
    changed = log.changed_at if isinstance(log, JobLog) else None
    if changed and changed > since + SKEW and now - changed <= fresh:
        return f"its log changed at {changed:%H:%M} UTC"
    return ""


def rows_since(job: Job, metrics: Metrics | Nothing, history: History) -> tuple[datetime | None, bool]:
    """Since when there is no new row, and whether the job has written any: else it is since it began."""
    started = job.started or (history.current.started if history.current else None)
    if isinstance(metrics, Metrics) and (started is None or metrics.advanced_at >= started):
        return metrics.advanced_at, True
    return started, False
