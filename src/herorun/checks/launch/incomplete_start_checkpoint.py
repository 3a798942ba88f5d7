"""The checkpoint to start from is missing or incomplete.

Why: a trainer that finds an incomplete checkpoint crashes, or starts from scratch under the run's
name.
Fix: name a complete checkpoint in `[start] from`: one with its marker (`metadata.json`, or that of
its layout) and its data.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.evidence import Checkpoints, Nothing, StartSiblings, Unavailable, candidates_of
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown
from herorun.core.plan import Plan


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.BLOCK, always=True)
def incomplete_start_checkpoint(
    plan: Plan, own: Checkpoints | Nothing, siblings: StartSiblings | Nothing | Unavailable
) -> Verdict:
    """If the run continues from its own checkpoint, an unreadable parent does not matter."""
    start = plan.start.value
    if start is None:
        return not_applicable(plan.start.source)
    checkpoint = Checkpoints(candidates_of(own, siblings)).at(start.path)
    if checkpoint is None and isinstance(siblings, Unavailable):
        return unknown(f"{start.path} could not be read: {siblings.why}", subject=start.path)
    if checkpoint is None:
        return failed(f"{start.path} does not exist", subject=start.path)
    if not checkpoint.examined:
        return unknown(
            f"{start.path}: {checkpoint.problem or 'it was listed but not examined'}",
            subject=start.path,
        )
    if checkpoint.problem:
        return failed(f"{start.path} is incomplete: {checkpoint.problem}", subject=start.path)
    return passed(f"{start.path} is complete, step {checkpoint.step}", subject=start.path)
