"""A checkpoint that is permanent by the contract is no longer in the store.

Why: rollbacks, forks and comparisons start from permanent checkpoints and milestones; without this
check, the loss is found on the day when one is needed.
Fix: find what deletes them, or why the trainer does not save them (its own setting, a lifecycle
rule, a person), before the next one is gone; or correct [checkpoints] in the contract.
Source: marin-community/marin, manage-hero-run: hero runs choose permanent retention before launch;
cleanup must not threaten it.
"""

from herorun.core.check import Gate, Hold, Response, Topic, check
from herorun.core.contract import Contract
from herorun.core.evidence import Checkpoints, History
from herorun.core.finding import Verdict, failed, few, not_applicable, passed
from herorun.core.retention import due_steps


@check(Gate.HEALTH, Response.WARN, hold=Hold(ticks=2), topic=Topic.CHECKPOINTS)
def unkept_checkpoint(contract: Contract, checkpoints: Checkpoints, history: History) -> Verdict:
    """Covers permanent checkpoints between the oldest that exists and the newest complete one, and
    milestones since the start.

    Below the oldest it is unknown whether one was ever saved; `shrinking-rollback` checks how many
    there are. A step whose checkpoint a rollback ruled out is not due: trainers that find a folder
    of the name may leave it.
    """
    policy, permanent = contract.checkpoints, [c for c in checkpoints.candidates if not c.temporary]
    newest = max((c.step for c in permanent if c.complete), default=None)
    if history.began is None or newest is None or not (policy.permanent_every or policy.milestones):
        return not_applicable(
            "no permanent checkpoint is due yet, or the run's first step is unknown"
        )
    existing_steps = {c.step for c in permanent if not c.incomplete}
    every = policy.permanent_every
    oldest = min((step for step in existing_steps if every and step % every == 0), default=newest)
    ruled_out = {c.step for c in checkpoints.given_up if not c.temporary} - existing_steps
    steps = due_steps(every, policy.milestones, history.began, oldest, newest)
    due = [step for step in steps if step not in ruled_out]
    missing = [step for step in due if step not in existing_steps]
    if missing:
        message = (
            f"{len(missing)} of {len(due)} permanent checkpoints are missing: step "
            f"{few([str(s) for s in missing])}"
        )
        return failed(message, subject=few([str(step) for step in missing]))
    left_out = [str(step) for step in steps if step in ruled_out]
    note = f"; a rollback ruled out that of step {few(left_out)}" if left_out else ""
    return passed(f"all {len(due)} permanent checkpoints up to step {newest} are there{note}")
