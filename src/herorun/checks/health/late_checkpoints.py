"""A checkpoint is overdue.

Why: every step since the newest complete checkpoint is lost with the next crash, and a write that is stuck never says so.
Fix: look at the job's log and at the store: whether a save is under way, there is room, and it may write.
Source: one and a half save intervals leave room for a slow write and not for a missing one.
"""

from dataclasses import dataclass
from datetime import timedelta

from pydantic import PositiveFloat

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.contract import Contract
from herorun.core.evidence import Checkpoints, History, Job, JobState, Metrics
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown
from herorun.core.health.saves import job_start, lags


@dataclass(frozen=True)
class Limits:
    """Save intervals without a complete checkpoint; a save may take `grace`, and a start `startup`."""

    intervals: PositiveFloat = 1.5
    grace: timedelta = timedelta(minutes=10)
    startup: timedelta = timedelta(minutes=45)


@check(Gate.HEALTH, Response.WARN, topic=Topic.CHECKPOINTS)
def late_checkpoints(
    job: Job, contract: Contract, checkpoints: Checkpoints, metrics: Metrics, history: History, limits: Limits
) -> Verdict:
    if job.state.in_doubt:
        return unknown(f"the scheduler cannot say whether {job.instance} runs", subject=job.instance)
    if job.state is not JobState.RUNNING or not history.wrote(metrics):
        return not_applicable(
            f"{job.instance} is {job.state} and has no row of its own", subject=job.instance
        )
    start = job_start(job, history)
    lag = lags(contract, checkpoints, metrics, start, limits.grace, limits.startup)
    if lag is None:
        return not_applicable("no save interval is stated or seen yet", subject=job.instance)
    if lag.intervals > limits.intervals:
        return failed(f"{lag.said}: {lag.intervals:.1f} intervals without one", subject=job.instance)
    return passed(lag.said, subject=job.instance)
