"""The job ended with success, but its expected results are missing.

Why: an asynchronous save that the trainer does not wait for is lost when the process ends; nobody
notices until the checkpoint is needed.
Fix: do not seal; if there is a complete checkpoint, continue from it and save again (`herorun
relaunch RUN`); otherwise the DRI decides: accept the result in a waiver, or launch from scratch.
Source: marin-community/marin, babysit logbook of April 2026: at least 6 of 12 runs at 100 % lost
their final checkpoint.
"""

from datetime import timedelta
from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import (
    Checkpoints,
    FinalStep,
    History,
    Job,
    JobState,
    Metrics,
    Nothing,
    Now,
    TrackerIdentity,
    TrackerState,
)
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown
from herorun.core.lazy_dataclass import dataclass
from herorun.core.notify.escalation import EscalationReason


@dataclass(frozen=True)
class Limits:
    """How long the tracker may take to notice the end."""

    RENAMED: ClassVar = {"closing": "tracker_delay"}

    tracker_delay: timedelta = timedelta(minutes=10)


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.JOB, asks=EscalationReason.UNVERIFIED)
def missing_artefacts(
    job: Job,
    final: FinalStep,
    metrics: Metrics | Nothing,
    checkpoints: Checkpoints,
    history: History,
    identity: TrackerIdentity | Nothing,
    now: Now,
    limits: Limits,
) -> list[Verdict]:
    """One verdict for the final checkpoint, and one for the tracker's run."""
    if job.state is not JobState.SUCCEEDED:
        return [not_applicable(f"{job.instance} {job.state.predicate}")]
    if final.value is None:
        return [not_applicable("the final step is unknown")]
    last_step = history.last_step(metrics, checkpoints)
    if isinstance(metrics, Metrics) and last_step < final.value:
        return [not_applicable(f"{job.instance} ended at step {last_step}: see ended-short")]
    verdicts = [_checkpoint(checkpoints, final.value)]
    if isinstance(identity, TrackerIdentity):
        verdicts.append(_judge_tracker_end(identity, job, now, limits.tracker_delay))
    return verdicts


def _checkpoint(checkpoints: Checkpoints, step: int) -> Verdict:
    of_step = [c for c in checkpoints.candidates if c.step == step and not c.alike]
    complete = next((c for c in of_step if c.complete), None)
    if complete:
        return passed(f"{complete.path} is complete", subject="checkpoint")
    incomplete_save = next((c for c in of_step if c.incomplete), None)
    if incomplete_save:
        return failed(
            f"the final checkpoint {incomplete_save.path} is not complete: "
            f"{incomplete_save.problem}",
            subject="checkpoint",
        )
    if of_step:
        return unknown(f"{of_step[0].path}: {of_step[0].problem}", subject="checkpoint")
    return failed(f"there is no checkpoint of the final step {step}", subject="checkpoint")


def _judge_tracker_end(
    identity: TrackerIdentity, job: Job, now: Now, closing: timedelta
) -> Verdict:
    if identity.state is TrackerState.UNREACHABLE:
        return unknown(f"could not query the tracker: {identity.why}", subject="tracker")
    if identity.state is TrackerState.FINISHED:
        return passed("the tracker's run is finished", subject="tracker")
    young = job.ended is None or now.at - job.ended <= closing
    if identity.state is TrackerState.RUNNING and young:
        return not_applicable("the tracker may not show the end yet", subject="tracker")
    return failed(
        f"the job succeeded, but the tracker's run is {identity.state}", subject="tracker"
    )
