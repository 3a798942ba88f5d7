"""The job reports under another identity than the recorded one.

Why: metrics look plausible while they belong to the wrong lineage, and the run's panel shows
another run.
Fix: find out which id, project and name the trainer really uses; a wrong lineage needs a launch
under a new id.
Source: marin-community/marin, manage-hero-run: alert immediately; do not rely only on a saved URL.
"""

from datetime import timedelta

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.contract import Contract
from herorun.core.evidence import (
    History,
    Job,
    JobLog,
    JobState,
    Metrics,
    Nothing,
    Now,
    Receipt,
    TrackerIdentity,
    TrackerState,
    Unavailable,
)
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown
from herorun.core.identity.drift import name_drift, reported_drift, server_drift
from herorun.core.lazy_dataclass import dataclass
from herorun.core.notify.escalation import EscalationReason


@dataclass(frozen=True)
class Limits:
    """A new run may be absent from the tracker for the time that a start takes."""

    startup: timedelta = timedelta(minutes=45)


@check(
    Gate.HEALTH,
    Response.ESCALATE,
    topic=Topic.JOB,
    vetoes_relaunch=True,
    asks=EscalationReason.LINEAGE,
)
def tracker_identity_drift(
    job: Job,
    contract: Contract,
    identity: TrackerIdentity | Nothing,
    log: JobLog | Nothing | Unavailable,
    receipt: Receipt | Nothing | Unavailable,
    metrics: Metrics | Nothing | Unavailable,
    history: History,
    now: Now,
    limits: Limits,
) -> list[Verdict]:
    """One verdict for each part of the identity that differs. A receipt can only agree: a job with
    another identity refused to train, as `refused-at-check-in` says.
    """
    verdicts = [*reported_drift(contract, log.runs if isinstance(log, JobLog) else ())]
    if isinstance(identity, TrackerIdentity):
        if identity.state is TrackerState.UNREACHABLE and not verdicts:
            return [unknown(f"could not query the tracker: {identity.why}", subject="id")]
        wrote = isinstance(metrics, Metrics) and history.wrote(metrics)
        old = job.started is not None and now.at - job.started > limits.startup
        in_log = isinstance(log, JobLog) and bool(log.runs)  # its client created the run
        was_there = wrote or history.has_rows or in_log
        must = job.state is JobState.RUNNING and (was_there or old)
        verdicts += name_drift(contract, identity, must)
        verdicts += server_drift(contract, identity, log.server if isinstance(log, JobLog) else "")
    if verdicts:
        return [failed(message, subject=subject) for subject, message in verdicts]
    ours = receipt if isinstance(receipt, Receipt) and receipt.instance == job.instance else None
    if ours and ours.outcome == "fail":
        return [not_applicable(f"{job.instance} refused to train at check-in")]
    if isinstance(identity, Nothing) and not _has_shown_its_id(ours):
        return [not_applicable(identity.why)]
    return [passed(f"{job.instance} reports under the recorded identity")]


def _has_shown_its_id(receipt: Receipt | None) -> bool:
    """Whether the job showed its tracker id at check-in, and it was the admitted one."""
    items = receipt.items if receipt else ()
    return any(item == "tracker-id" and outcome == "pass" for item, outcome, _ in items)
