"""Errors in a running job's log, and whether the training continued after them."""

from datetime import datetime

from herorun.core.clock_skew import SKEW
from herorun.core.evidence import Complaint, History, Job, JobLog, Metrics, Nothing
from herorun.core.health.liveness import rows_since
from herorun.core.triage.classes import QUIET, FailureClass

WEIGHTS = ("faint", "symptom", "bug", "cause")
# What ends no training by itself, or has a check of its own.
_OTHERS = {
    *QUIET,
    FailureClass.PREEMPTION,
    FailureClass.TIMEOUT,
    FailureClass.CAPACITY,
    FailureClass.HOST_CONTENTION,
    FailureClass.REFUSED,
}


def worst_complaint(log: JobLog | Nothing) -> Complaint | None:
    """The line that explains most; of several, the earliest."""
    complaints = log.complaints if isinstance(log, JobLog) else ()
    failing = [c for c in complaints if c.weight != "faint" and c.failure_class not in _OTHERS]
    return min(failing, key=lambda c: (-WEIGHTS.index(c.weight), c.line), default=None)


def idle_since(
    complaint: Complaint, job: Job, metrics: Metrics | Nothing, history: History, now: datetime
) -> datetime | None:
    """When the job last moved, if not since the line; None if it has, or if it is unknown."""
    last_move, wrote = rows_since(job, metrics, history, now)
    if last_move is None or (
        wrote and (complaint.since is None or last_move > complaint.since + SKEW)
    ):
        return None
    return last_move


def describe_complaint(complaint: Complaint) -> str:
    where = f" ({complaint.where})" if complaint.where else ""
    return (
        f"{complaint.failure_class} in line {complaint.line} of its log{where}: "
        f"{complaint.excerpt.rstrip('.')}"
    )
