"""The job ended without success.

Why: preemption and hardware faults are ordinary; the run should continue from its last complete
checkpoint.
Fix: read the end of its log (`herorun logs RUN`). herorun relaunches it if a relaunch can cure the
cause and the budget is not spent; otherwise it asks the DRI.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import (
    Checkpoints,
    Disks,
    FinalStep,
    History,
    Job,
    Nothing,
    Receipt,
    RootAtEnd,
    Triage,
    Unavailable,
)
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown
from herorun.core.lineage import final_checkpoint
from herorun.core.recovery.diagnosis import diagnose, end_context_of


@check(Gate.HEALTH, Response.RELAUNCH, topic=Topic.JOB, inhibited_by=("repeated-crash",))
def crashed(
    job: Job,
    final: FinalStep | Nothing | Unavailable,
    checkpoints: Checkpoints | Nothing | Unavailable,
    history: History | Nothing | Unavailable,
    triage: Triage | Nothing | Unavailable,
    root: RootAtEnd | Nothing | Unavailable,
    disks: Disks | Nothing | Unavailable,
    receipt: Receipt | Nothing | Unavailable,
) -> Verdict:
    """The message is the diagnosis, which all other outputs show too."""
    if job.state.in_doubt:
        return unknown(
            f"the scheduler does not report the state of {job.instance}", subject=job.instance
        )
    if job.has_crashed and (path := final_checkpoint(final, checkpoints)):
        message = f"{job.ending}; its final checkpoint {path} is complete: see failed-when-done"
        return not_applicable(message, subject=job.instance)
    if job.has_crashed:
        evidence = {
            Checkpoints: checkpoints,
            Disks: disks,
            History: history,
            Receipt: receipt,
            RootAtEnd: root,
            Triage: triage,
        }
        return failed(diagnose(job, end_context_of(evidence)).why, subject=job.instance)
    if job.stopped_by_hand:
        return not_applicable(f"{job.ending}; see stopped-by-hand", subject=job.instance)
    if job.is_refused and job.state.is_final:
        message = f"{job.ending}; see refused-at-check-in"
        return not_applicable(message, subject=job.instance)
    return passed(f"{job.instance} {job.state.predicate}", subject=job.instance)
