"""The checkpoint of a milestone's seal."""

from herorun.core.evidence import Candidate, Checkpoints, MilestoneCheckpoint, Nothing, Sealing
from herorun.core.ports import Layout, Store
from herorun.core.seal.kinds import SealKind


def read_milestone_checkpoint(
    sealing: Sealing, checkpoints: Checkpoints, store: Store, layout: Layout
) -> MilestoneCheckpoint | Nothing:
    """The checkpoint of the step, examined; without a step the newest complete permanent one."""
    if sealing.kind is not SealKind.MILESTONE:
        return Nothing("no milestone is sealed")
    newest_first = sorted(
        _select_candidates(sealing, checkpoints), key=lambda c: (-c.step, c.temporary, c.path)
    )
    results = []
    for candidate in newest_first:
        result = candidate if candidate.examined else layout.examined(store, candidate)
        if result and result.complete and not result.temporary:
            return MilestoneCheckpoint(result)
        results += [result] if result else []
    return MilestoneCheckpoint(results[0] if results and sealing.step is not None else None)


def _select_candidates(sealing: Sealing, checkpoints: Checkpoints) -> list[Candidate]:
    every = [c for c in checkpoints.candidates if not c.alike]
    return [c for c in every if sealing.step is None or c.step == sealing.step]
