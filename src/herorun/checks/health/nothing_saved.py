"""The instance is older than its save interval and has not saved its first checkpoint.

Why: all its work is lost when it ends; after an end before the first save, the next instance
repeats the same steps.
Fix: look in its log for a save (`herorun logs RUN`); a shorter interval of temporary checkpoints
limits the loss.
Source: marin-community/marin #8506: an attempt died after 54 minutes, before its hourly save; 55
minutes of 704 accelerators were replayed.
"""

from datetime import datetime, timedelta

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.contract import Contract
from herorun.core.durations import format_duration, format_span
from herorun.core.evidence import Checkpoints, History, Job, JobState, Metrics
from herorun.core.finding import Verdict, count, failed, not_applicable, passed, unknown
from herorun.core.health.checkpoint_lag import job_start, save_interval
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat


@dataclass(frozen=True)
class Limits:
    """How many save `intervals` may pass; if the interval is a time, `startup` is added for the
    start.
    """

    intervals: PositiveFloat = 1.0
    startup: timedelta = timedelta(minutes=45)


@check(Gate.HEALTH, Response.WARN, topic=Topic.CHECKPOINTS, inhibited_by=("stalled-checkpoints",))
def nothing_saved(
    job: Job,
    contract: Contract,
    checkpoints: Checkpoints,
    metrics: Metrics,
    history: History,
    limits: Limits,
) -> Verdict:
    if job.state.in_doubt:
        return unknown(
            f"the scheduler does not report whether {job.instance} runs", subject=job.instance
        )
    start = job_start(job, history)
    if job.state is not JobState.RUNNING or start is None or not history.wrote(metrics):
        return not_applicable(
            f"{job.instance} {job.state.predicate} and has no row of its own", subject=job.instance
        )
    if _has_saved(checkpoints, start, metrics):
        return passed(f"{job.instance} has saved since it began", subject=job.instance)
    age = metrics.stamped_at - start
    due = _describe_due(contract, checkpoints, metrics, age, limits)
    if not due:
        return passed(f"{job.instance} is too young to have saved", subject=job.instance)
    return failed(
        f"{job.instance} has trained for {format_span(age)} and has saved no checkpoint: {due}",
        subject=job.instance,
    )


def _has_saved(checkpoints: Checkpoints, start: datetime, metrics: Metrics) -> bool:
    """A checkpoint is of this attempt by the store's time, or, without one, by its step."""
    saved_checkpoints = [c for c in checkpoints.candidates if c.complete or not c.problem]
    return any(
        c.modified >= start if c.modified else c.step >= metrics.first_step
        for c in saved_checkpoints
    )


def _describe_due(
    contract: Contract, checkpoints: Checkpoints, metrics: Metrics, age: timedelta, limits: Limits
) -> str:
    every = contract.checkpoints.temporary_every
    if every is not None:
        is_overdue = age - limits.startup > limits.intervals * every
        return f"one is due every {format_duration(every)} (temporary_every)" if is_overdue else ""
    interval = save_interval(contract, checkpoints)
    steps = metrics.step - max(metrics.first_step - 1, 0)
    if interval is None or steps <= limits.intervals * interval[0]:
        return ""
    due = count(round(interval[0]), "step")
    return f"it has made {count(steps, 'step')}, and one is due every {due} ({interval[1]})"
