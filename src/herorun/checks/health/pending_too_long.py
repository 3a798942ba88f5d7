"""The job has waited too long for its hardware.

Why: a wrong slice, an exhausted quota or a peer that does not answer never improves by waiting. A
job that is called running before its machines do anything is still waiting.
What waiting cannot fix, such as a missing image, is reported after 5 minutes.
Fix: act on the reason in the message; the DRI decides whether to wait, or to stop the job
(`herorun stop RUN`) and use other capacity.
Source: marin-community/marin, manage-hero-run: pending for more than 30 minutes; reported again
after 2 hours, and daily.
"""

from datetime import timedelta

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.durations import format_duration, format_span
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
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown
from herorun.core.health.queue_reasons import ADVICE, Waiting, why_waiting
from herorun.core.lazy_dataclass import dataclass

UNCONFIRMED = (
    "the scheduler says running, but there is no row, log line or receipt; "
    "check whether it has its machines"
)


@dataclass(frozen=True)
class Limits:
    """The wait begins at the submission or the return to the queue. It is reported after `first`,
    after `again`, then once per `repeat`. What waiting cannot fix, such as a missing image, is
    first reported after `unsatisfiable`.
    """

    unsatisfiable: timedelta = timedelta(minutes=5)
    first: timedelta = timedelta(minutes=30)
    again: timedelta = timedelta(hours=2)
    repeat: timedelta = timedelta(days=1)


@check(Gate.HEALTH, Response.WARN, topic=Topic.JOB)
def pending_too_long(
    job: Job,
    history: History,
    metrics: Metrics | Nothing | Unavailable,
    log: JobLog | Nothing | Unavailable,
    receipt: Receipt | Nothing | Unavailable,
    now: Now,
    limits: Limits,
) -> list[Verdict]:
    """One verdict for each limit that is passed, so that each is reported. Without a row, a log
    line or a receipt, the allocation of a running job is unconfirmed, and counts as waiting.
    """
    if job.state.in_doubt:
        return [
            unknown(
                f"the scheduler does not report whether {job.instance} waits", subject=job.instance
            )
        ]
    running = job.state is JobState.RUNNING
    is_confirmed = running and _confirmed(job, history, metrics, log, receipt)
    if is_confirmed or not (running or job.state is JobState.PENDING):
        return [not_applicable(f"{job.instance} {job.state.predicate}", subject=job.instance)]
    if is_confirmed is None:
        message = (
            f"the scheduler reports {job.instance} as running, but what would confirm it could not "
            "be read"
        )
        return [unknown(message, subject=job.instance)]
    why = why_waiting(job.reason)
    if why is Waiting.EXPECTED and not running:
        return [
            not_applicable(f"{job.instance} waits as requested: {job.reason}", subject=job.instance)
        ]
    since = job.submitted or (history.current.started if history.current else None)
    if since is None:
        return [
            unknown(
                f"it is unknown since when {job.instance} has been waiting", subject=job.instance
            )
        ]
    waits = now.at - since
    limit = limits.unsatisfiable if why is Waiting.NEVER else limits.first
    if waits <= limit:
        return [
            passed(
                f"{job.instance} has been waiting for {format_span(waits)} (the limit is "
                f"{format_span(limit)})",
                subject=job.instance,
            )
        ]
    reason = UNCONFIRMED if running else _describe_waiting(why, job)
    message = (
        f"{job.instance} has been {'unconfirmed' if running else 'pending'} for "
        f"{format_span(waits)} (the limit is {format_span(limit)}): {reason}"
    )
    return [failed(message, subject=subject) for subject in _subjects(job.instance, waits, limits)]


def _confirmed(
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


def _describe_waiting(why: Waiting, job: Job) -> str:
    reason = f" ({job.reason})" if job.reason and why is not Waiting.UNSTATED else ""
    return f"{why}{reason}; {ADVICE[why]}"


def _subjects(instance: str, waits: timedelta, limits: Limits) -> list[str]:
    later = [limits.again] if waits > limits.again else []
    later += [limits.repeat * day for day in range(1, waits // limits.repeat + 1)]
    return [instance, *(f"{instance} after {format_duration(limit)}" for limit in later)]
