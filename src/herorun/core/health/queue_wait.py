"""How long a job has waited for its hardware, and why."""

from datetime import timedelta

from herorun.core.durations import format_span
from herorun.core.evidence import (
    History,
    Job,
    JobLog,
    JobState,
    Metrics,
    Nothing,
    Now,
    Receipt,
    Unavailable,
)
from herorun.core.finding import Verdict, not_applicable, unknown
from herorun.core.health.queue_reasons import ADVICE, Waiting, why_waiting
from herorun.core.lazy_dataclass import dataclass

UNCONFIRMED_START = (
    "the scheduler says running, but there is no row, no log line and no check-in of the job; "
    "check whether the job has its nodes"
)


@dataclass(frozen=True)
class QueueWait:
    """The wait of a job; it begins at the submission or the return to the queue."""

    instance: str
    span: timedelta
    why: Waiting
    reason: str
    running: bool  # as the scheduler says, which nothing confirms

    def describe(self, limit: timedelta) -> str:
        return (
            f"{self.instance} has been waiting for {format_span(self.span)} (the limit is "
            f"{format_span(limit)})"
        )

    def complain(self, limit: timedelta) -> str:
        """The message after the limit, with the reason and what to do."""
        span, limit_text = format_span(self.span), format_span(limit)
        if self.running:
            return (
                f"the start of {self.instance} has been unconfirmed for {span} (the limit for an "
                f"unconfirmed start is {limit_text}): {UNCONFIRMED_START}"
            )
        return (
            f"{self.instance} has been pending for {span} (the limit is {limit_text}): "
            f"{self._describe_reason()}"
        )

    def _describe_reason(self) -> str:
        is_stated = self.reason and self.why is not Waiting.UNSTATED
        return f"{self.why}{f' ({self.reason})' if is_stated else ''}; {ADVICE[self.why]}"


def read_wait(
    job: Job,
    history: History,
    metrics: Metrics | Nothing | Unavailable,
    log: JobLog | Nothing | Unavailable,
    receipt: Receipt | Nothing | Unavailable,
    now: Now,
) -> QueueWait | Verdict:
    """The job's wait, or why it does not wait or that is unknown. Without a row, a log line or a
    receipt, the allocation of a running job is unconfirmed, and counts as waiting.
    """
    if job.state.in_doubt:
        return unknown(
            f"the scheduler does not report whether {job.instance} waits", subject=job.instance
        )
    running = job.state is JobState.RUNNING
    is_confirmed = running and _has_confirmation(job, history, metrics, log, receipt)
    if is_confirmed or not (running or job.state is JobState.PENDING):
        return not_applicable(f"{job.instance} {job.state.predicate}", subject=job.instance)
    if is_confirmed is None:
        message = (
            f"the scheduler reports {job.instance} as running, but what would confirm it could not "
            "be read"
        )
        return unknown(message, subject=job.instance)
    why = why_waiting(job.reason)
    if why is Waiting.EXPECTED and not running:
        return not_applicable(
            f"{job.instance} waits as requested: {job.reason}", subject=job.instance
        )
    since = job.submitted or (history.current.started if history.current else None)
    if since is None:
        return unknown(
            f"it is unknown since when {job.instance} has been waiting", subject=job.instance
        )
    return QueueWait(job.instance, now.at - since, why, job.reason, running)


def _has_confirmation(
    job: Job,
    history: History,
    metrics: Metrics | Nothing | Unavailable,
    log: JobLog | Nothing | Unavailable,
    receipt: Receipt | Nothing | Unavailable,
) -> bool | None:
    """Whether anything besides the scheduler's state shows that the job runs; None if evidence that
    could show it was not read.
    """
    if job.instance in history.checked_in or isinstance(log, JobLog):
        return True
    if isinstance(receipt, Receipt) and receipt.instance == job.instance:
        return True
    if isinstance(metrics, Metrics) and history.wrote(metrics):
        return True
    return (
        None
        if any(isinstance(source, Unavailable) for source in (metrics, log, receipt))
        else False
    )
