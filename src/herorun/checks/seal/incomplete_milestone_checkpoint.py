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
    found = milestone.candidate if isinstance(milestone, MilestoneCheckpoint) else None
    if found is None:
        wanted = (
            f"of step {sealing.step}"
            if sealing.step is not None
            else "that is complete and permanent"
        )
        return failed(f"there is no checkpoint {wanted}", subject=sealing.name)
    if not found.examined:
        return unknown(f"nobody could look into {found.path}: {found.problem}", subject=found.path)
    if found.problem:
        return failed(f"{found.path} is incomplete: {found.problem}", subject=found.path)
    if found.temporary:
        return failed(f"{found.path} is only temporary", subject=found.path)
    why = mistrust(found, history)
    return (
        failed(f"{found.path}: {why}", subject=found.path)
        if why
        else passed(f"{found.path} is complete")
    )
