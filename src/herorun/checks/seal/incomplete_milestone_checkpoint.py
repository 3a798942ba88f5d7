"""The milestone's checkpoint is missing, incomplete or only temporary.

Why: a milestone exists so that people can return to it; without a permanent checkpoint it is only a
name.
Fix: wait for the save to end, or name the step of a complete permanent checkpoint (`--step N`).
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import History, MilestoneCheckpoint, Nothing, Sealing
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown
from herorun.core.lineage import mistrust
from herorun.core.seal.kinds import SealKind


@check(Gate.SEAL, Response.BLOCK)
def incomplete_milestone_checkpoint(
    sealing: Sealing, milestone: MilestoneCheckpoint | Nothing, history: History
) -> Verdict:
    if sealing.kind is not SealKind.MILESTONE:
        return not_applicable("no milestone is sealed")
    checkpoint = milestone.candidate if isinstance(milestone, MilestoneCheckpoint) else None
    if checkpoint is None:
        which = (
            f"of step {sealing.step}"
            if sealing.step is not None
            else "that is complete and permanent"
        )
        return failed(f"there is no checkpoint {which}", subject=sealing.name)
    if not checkpoint.examined:
        return unknown(
            f"{checkpoint.path}: {checkpoint.problem}",
            subject=checkpoint.path,
        )
    if checkpoint.problem:
        return failed(
            f"{checkpoint.path} is incomplete: {checkpoint.problem}", subject=checkpoint.path
        )
    if checkpoint.temporary:
        return failed(f"{checkpoint.path} is only temporary", subject=checkpoint.path)
    why = mistrust(checkpoint, history)
    return (
        failed(f"{checkpoint.path}: {why}", subject=checkpoint.path)
        if why
        else passed(f"{checkpoint.path} is complete")
    )
