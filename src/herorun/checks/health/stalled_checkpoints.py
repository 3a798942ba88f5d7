"""The training moves on and complete checkpoints do not appear.

Why: the rollback window is no longer moving; a crash now throws away more than two save intervals of the whole cluster.
Fix: see why the writes fail or never complete, before the job ends; the DRI decides whether to stop it.
Source: marin-community/marin, manage-hero-run: alert before the rollback window collapses; two and a half save
intervals are one save that was missed for certain.
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

    intervals: PositiveFloat = 2.5
    grace: timedelta = timedelta(minutes=10)
    startup: timedelta = timedelta(minutes=45)


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.CHECKPOINTS)
def stalled_checkpoints(
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
