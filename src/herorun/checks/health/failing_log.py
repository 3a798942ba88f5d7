"""The running job's log shows a fatal error, and steps have been missing for longer than the limit.

Why: a scheduler reports RUNNING for a job whose accelerators have no memory left, or whose ranks
have died, until a time-out of hours; the log shows it at once.
Fix: read the line in the log (`herorun logs RUN`); stop the job (`herorun stop RUN`), and launch it
again with what it needs. herorun stops a running job only if the contract's `[babysit] stop_on`
names this check.
Source: marin-community/marin, job-monitoring loop: HBM reports and tracebacks are failures while
the job still runs.
"""

from datetime import datetime, timedelta
from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.durations import format_span
from herorun.core.evidence import (
    Cadence,
    Complaint,
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
from herorun.core.health.liveness import RowPatience, rows_since
from herorun.core.health.log_errors import describe_complaint, idle_since, worst_complaint
from herorun.core.health.preconditions import not_running
from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Limits(RowPatience):
    """After an error that is fatal by itself (exhausted memory, a dead device, a lost node) the
    check fires when no step came for `fatal_idle`.

    An exception may have been caught: after one the check waits as long as `stalled-steps`, whose
    page explains the other thresholds.
    """

    RENAMED: ClassVar = {**RowPatience.RENAMED, "still": "fatal_idle"}

    fatal_idle: timedelta = timedelta(minutes=2)


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.JOB)
def failing_log(
    job: Job,
    log: JobLog | Nothing,
    metrics: Metrics | Nothing,
    history: History,
    final: FinalStep | Nothing | Unavailable,
    now: Now,
    cadence: Cadence,
    limits: Limits,
) -> Verdict:
    """An error that may only follow from another rank's failure is left to `error-in-log`,
    `stalled-by-infrastructure` and `stalled-steps`.
    """
    if verdict := not_running(job):
        return verdict
    if isinstance(log, Nothing):
        return not_applicable(log.why or "no log was read", subject=job.instance)
    worst = worst_complaint(log)
    if worst is None or worst.weight == "symptom":
        return passed(f"the log of {job.instance} shows no fatal error", subject=job.instance)
    since = idle_since(worst, job, metrics, history, now.at)
    most = _most(worst.weight, metrics, history, final, cadence, limits)
    if since is None:
        return _judge_undated(worst, job, metrics, history, now.at)
    idle, within = format_span(now.at - since), now.at - since <= most
    limit = f"{'within' if within else 'more than'} the limit of {format_span(most)}"
    error = f"its error: {describe_complaint(worst)}"
    message = f"{job.instance} has made no step for {idle}, {limit}; {error}"
    if within:
        return passed(message, subject=job.instance)
    advice = f". {worst.advice}" if worst.advice else ""
    return failed(f"{message}{advice}", subject=job.instance)


def _judge_undated(
    worst: Complaint, job: Job, metrics: Metrics | Nothing, history: History, now: datetime
) -> Verdict:
    """Judges an error before the newest row, or in the log of a job whose start is unknown."""
    last_move, _ = rows_since(job, metrics, history, now)
    if last_move is None:
        message = f"the start of {job.instance} is unknown; its error: {describe_complaint(worst)}"
        return unknown(message, subject=job.instance)
    message = f"a row came after the error {describe_complaint(worst)}"
    return passed(message, subject=job.instance)


def _most(
    weight: str,
    metrics: Metrics | Nothing,
    history: History,
    final: FinalStep | Nothing | Unavailable,
    cadence: Cadence,
    limits: Limits,
) -> timedelta:
    if weight == "cause":
        return limits.fatal_idle
    if isinstance(metrics, Metrics) and history.wrote(metrics):
        return limits.between_rows(metrics, final, cadence)
    return limits.idle
