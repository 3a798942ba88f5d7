"""Fewer checkpoints are left for a rollback than the contract keeps.

Why: in the end there is nothing to roll back to, and a spike is often found days after it began.
Fix: stop what deletes them (a lifecycle rule, a retention setting, a person) before none is left.
Source: marin-community/marin, manage-hero-run: alert before the rollback window collapses.
"""

from datetime import timedelta

from herorun.core.check import Gate, Hold, Response, Topic, check
from herorun.core.contract import Contract
from herorun.core.evidence import Checkpoints, History, Job, JobState
from herorun.core.finding import Verdict, count, failed, not_applicable, passed


@check(
    Gate.HEALTH,
    Response.ESCALATE,
    hold=Hold(timedelta(minutes=15), ticks=2),
    topic=Topic.CHECKPOINTS,
)
def shrinking_rollback(
    contract: Contract, checkpoints: Checkpoints, history: History, job: Job
) -> Verdict:
    """Fails only if there were that many before, and at a second tick: a trainer may delete an
    older checkpoint before it saves the next.
    """
    keep = contract.checkpoints.keep
    if keep is None:
        return not_applicable("the contract states no [checkpoints] keep")
    if history.most_saved < keep:
        return not_applicable(
            f"there have been at most {count(history.most_saved, 'checkpoint')}; "
            f"[checkpoints] keep is {keep}"
        )
    if job.state is JobState.SUCCEEDED:
        return not_applicable(
            f"{job.instance} ended with success: the trainer may delete what it no longer needs"
        )
    number = count(checkpoints.usable_count, "checkpoint")
    message = f"{number} to fall back on; [checkpoints] keep is {keep}"
    return (
        failed(f"only {message}, and there were {history.most_saved} before")
        if checkpoints.usable_count < keep
        else passed(message)
    )
