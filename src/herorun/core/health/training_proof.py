"""Whether evidence of the present instance shows that it trains, what is still awaited, and until
when. Pure.

A row proves training only while it is as recent as the run's own pace predicts; a receipt proves
that what runs is what was admitted. Evidence that could not be read now proves nothing, whatever it
showed before.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from herorun.core.clock_skew import SKEW
from herorun.core.durations import format_duration, format_span
from herorun.core.evidence import (
    Cadence,
    Checkpoints,
    Evidence,
    FinalStep,
    History,
    Job,
    JobLog,
    JobState,
    Metrics,
    Nothing,
    Receipt,
    Unavailable,
)
from herorun.core.health.liveness import FRESH, RowPatience, rows_since, steps_seen
from herorun.core.lazy_dataclass import dataclass

QUEUE = timedelta(minutes=30)  # as `pending-too-long` waits first
SOURCES = (Metrics, Receipt, JobLog, Checkpoints)


class TrainingProof(StrEnum):
    """What the evidence about a live job proves."""

    COMPLETE = "complete"
    # the job is not known to train yet, and may still be starting
    AWAITED = "awaited"
    LACKING = "lacking"  # evidence is missing that should be there, or could not be read


@dataclass(frozen=True)
class AwaitedEvidence:
    """One piece of evidence that is missing, and until when it may be; None where nothing says
    when.
    """

    evidence: str  # job, receipt, row, checkpoint or log
    message: str
    until: datetime | None = None


@dataclass(frozen=True)
class Training:
    proof: TrainingProof
    awaited: tuple[AwaitedEvidence, ...] = ()


def training(
    evidence: Evidence, now: datetime, receipt_due: bool, patience: RowPatience | None = None
) -> Training:
    """The proof for a job in any state. A job that was not seen proves nothing; an ended one
    needs only its receipt.
    """
    job = evidence.get(Job)
    if not isinstance(job, Job) or job.state.in_doubt:
        return Training(TrainingProof.LACKING, (AwaitedEvidence("job", _unseen_job(job)),))
    if job.state.is_final:
        return Training(TrainingProof.COMPLETE, _receipt(evidence, job) if receipt_due else ())
    if job.state is not JobState.RUNNING:
        since = job.submitted
        why = f" ({job.reason})" if job.reason else ""
        message = f"{job.instance} {job.state.predicate}{why}: waiting for its start"
        return Training(
            TrainingProof.AWAITED,
            (AwaitedEvidence("job", message, since + QUEUE if since else None),),
        )
    return _of_running(job, evidence, now, receipt_due, patience or RowPatience())


def _of_running(
    job: Job, evidence: Evidence, now: datetime, receipt_due: bool, patience: RowPatience
) -> Training:
    unreadable = _list_unavailable(evidence, receipt_due)
    receipt = _receipt(evidence, job) if receipt_due else ()
    row, has_begun = _judge_newest_row(job, evidence, now, patience)
    if unreadable:
        missing = {each.evidence for each in unreadable}
        others = (each for each in (*row, *receipt) if each.evidence not in missing)
        return Training(TrainingProof.LACKING, (*unreadable, *others))
    if not row and not receipt:
        return Training(TrainingProof.COMPLETE)
    young = bool(row) and not has_begun and row[0].until is not None and now <= row[0].until
    return Training(TrainingProof.AWAITED if young else TrainingProof.LACKING, (*row, *receipt))


def _unseen_job(job: object) -> str:
    if isinstance(job, Unavailable):
        return f"could not query the scheduler: {job.why}"
    if isinstance(job, Job):
        return f"the scheduler does not report the state of {job.instance}"
    return (job.why if isinstance(job, Nothing) else "") or "the scheduler was not queried"


def _list_unavailable(evidence: Evidence, receipt_due: bool) -> tuple[AwaitedEvidence, ...]:
    """The sources that did not answer. A check-in that is on record is not read again."""
    names: dict[Any, str] = {
        Metrics: "row",
        Receipt: "receipt",
        JobLog: "log",
        Checkpoints: "checkpoint",
    }
    readings = (
        (names[kind], evidence.get(kind)) for kind in SOURCES if kind is not Receipt or receipt_due
    )
    return tuple(
        AwaitedEvidence(name, f"the {name}s could not be read: {value.why}")
        for name, value in readings
        if isinstance(value, Unavailable)
    )


def _receipt(evidence: Evidence, job: Job) -> tuple[AwaitedEvidence, ...]:
    receipt, history = evidence.get(Receipt), evidence.get(History)
    ours = isinstance(receipt, Receipt) and receipt.instance == job.instance
    if ours or (isinstance(history, History) and job.instance in history.checked_in):
        return ()
    return (AwaitedEvidence("receipt", f"{job.instance} has not checked in: it has no receipt"),)


def _judge_newest_row(
    job: Job, evidence: Evidence, now: datetime, patience: RowPatience
) -> tuple[tuple[AwaitedEvidence, ...], bool]:
    """What is wrong with the newest row, and whether anything shows that the instance has begun to
    train.
    """
    metrics, history = evidence.get(Metrics), evidence.get(History)
    if not isinstance(history, History):
        return (AwaitedEvidence("row", "the record was not read"),), True
    rows = metrics if isinstance(metrics, Metrics | Nothing) else Nothing()
    since, wrote = rows_since(job, rows, history, now)
    if history.has_rows and not isinstance(rows, Metrics):
        message = f"rows of {job.instance} were read before, and now: {rows.why or 'none'}"
        return (AwaitedEvidence("row", message),), True
    if not wrote or not isinstance(rows, Metrics):
        return _first_row(job, evidence, history, since, patience)
    age = now - rows.advanced_at
    if -age > SKEW:
        return (
            AwaitedEvidence("row", f"the newest row is dated {format_span(-age)} in the future"),
        ), True
    if rows.undated:
        return (_await_dated_row(rows, patience),), False
    limit = fresh_for(rows, patience)
    return ((_stale(rows, evidence, age, limit, patience),) if age > limit else ()), True


def fresh_for(metrics: Metrics, patience: RowPatience) -> timedelta:
    """How old the newest row may be: as the pauses that came before, and at least what a slow save
    takes; for rows without times, `idle`.
    """
    if metrics.pause is None:
        return patience.idle
    return max(FRESH, min(timedelta(seconds=patience.pauses * metrics.pause), patience.max_idle))


def _stale(
    metrics: Metrics, evidence: Evidence, age: timedelta, limit: timedelta, patience: RowPatience
) -> AwaitedEvidence:
    final, cadence = evidence.get(FinalStep), evidence.get(Cadence)
    last = f"the last row, of step {metrics.logged_step(metrics.step)}, is {format_span(age)} old"
    if isinstance(final, FinalStep) and final.value is not None and metrics.step >= final.value:
        message = f"{last} and the final step is reached: waiting for the job's end"
        return AwaitedEvidence("row", message, metrics.advanced_at + patience.closing_time)
    due = f"{last}; at the run's own pace the next is due within {format_span(limit)}"
    until = None
    if isinstance(cadence, Cadence):
        step = final if isinstance(final, FinalStep) else Nothing()
        until = metrics.advanced_at + patience.between_rows(metrics, step, cadence)
    return AwaitedEvidence("row", due, until)


def _await_dated_row(metrics: Metrics, patience: RowPatience) -> AwaitedEvidence:
    """A step that was in the log at the first tick may be hours old."""
    message = (
        f"step {metrics.logged_step(metrics.step)} was in the log before the first tick, and its "
        "time is unknown: waiting for the next step"
    )
    return AwaitedEvidence("row", message, metrics.advanced_at + patience.idle)


def _first_row(
    job: Job, evidence: Evidence, history: History, since: datetime | None, patience: RowPatience
) -> tuple[tuple[AwaitedEvidence, ...], bool]:
    sign = steps_seen(job, evidence.get(JobLog), evidence.get(Checkpoints), history, None)
    if sign:
        return (
            AwaitedEvidence("row", f"{job.instance} has no row of its own, although {sign}"),
        ), True
    until = since + patience.startup if since else None
    message = (
        f"the first row of {job.instance} (start-up budget {format_duration(patience.startup)})"
    )
    return (AwaitedEvidence("row", message, until),), False
