"""The output root or the temporary root is gone while the job is live.

Why: the job computes what it can no longer save, and fails at its next write.
Fix: find out who removed or unmounted it, and restore it with its contents; stop the job if that
takes long (`herorun stop RUN`).
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import (
    Checkpoints,
    History,
    Job,
    Nothing,
    Receipt,
    RootAtEnd,
    Triage,
    Unavailable,
)
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.notify.escalation import EscalationReason
from herorun.core.recovery.job_evidence import end_context_of
from herorun.core.recovery.lost_root import lost_root


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.JOB, asks=EscalationReason.CLUSTER)
def lost_output(
    job: Job,
    root: RootAtEnd,
    history: History,
    checkpoints: Checkpoints | Nothing | Unavailable,
    receipt: Receipt | Nothing | Unavailable,
    triage: Triage | Nothing | Unavailable,
) -> Verdict:
    """The message is that of the diagnosis of an end. For an ended job, `crashed` reports it."""
    if not job.state.live:
        return not_applicable(f"{job.instance} {job.state.predicate}", subject=job.instance)
    evidence = {
        Checkpoints: checkpoints,
        History: history,
        Receipt: receipt,
        RootAtEnd: root,
        Triage: triage,
    }
    missing_root = lost_root(end_context_of(evidence))
    if missing_root is None:
        return passed(f"no output of {job.instance} is known to be missing", subject=job.instance)
    return failed(
        f"{job.instance} {job.state.predicate}, but {missing_root.message}",
        missing_root.advice,
        subject=job.instance,
    )
