"""The start checkpoint was saved while an alert showed damaged numbers, was discarded by a
rollback, or belongs to no recorded instance.

Why: a checkpoint saved after a non-finite loss or a wrong resume contains the damage; one that a
rollback discarded brings back its cause; one that no record names may be from any run.
Fix: start from the newest checkpoint before the damage; or, after the DRI has examined this one,
name it in `[start] from` with a `[start] reason`.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import (
    Candidate,
    Checkpoints,
    History,
    Nothing,
    SourceRun,
    StartSiblings,
    Unavailable,
    candidates_of,
)
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown
from herorun.core.lineage import (
    decided_on,
    describe_given_up,
    describe_taints,
    given_up,
    is_under,
    mistrust,
)
from herorun.core.plan import Plan


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.BLOCK)
def tainted_start_checkpoint(
    contract: Contract,
    plan: Plan,
    history: History,
    own: Checkpoints | Nothing,
    siblings: StartSiblings | Nothing | Unavailable,
    source: SourceRun | Nothing | Unavailable,
) -> Verdict:
    """Judges the checkpoints of each run by that run's own record."""
    start = plan.start.value
    if start is None:
        return not_applicable(plan.start.source)
    path = start.path
    checkpoint = Checkpoints(candidates_of(own, siblings)).at(path) or Candidate(
        path=path, step=start.step or 0, root=""
    )
    mine = is_under(path, (root for instance in history.instances for root in instance.roots))
    if not mine and isinstance(source, Unavailable):
        return unknown(
            f"could not check in which instance {path} was written: {source.why}", subject=path
        )
    if not mine and isinstance(source, Nothing):
        return not_applicable("no record names it: see unverified-lineage", subject=path)
    problem = mistrust(checkpoint, history) if mine else _elsewhere(checkpoint, source)
    if not problem:
        return passed(f"the record does not reject {path}", subject=path)
    if decided_on(contract, [checkpoint]):
        return passed(f"{path}: {problem}; chosen because: {contract.start.reason}", subject=path)
    return failed(f"{path} must not be resumed from: {problem}", subject=path)


def _elsewhere(candidate: Candidate, source: SourceRun | Nothing | Unavailable) -> str:
    if not isinstance(source, SourceRun):
        return ""
    if candidate.path in source.foreign:
        return f"it is older than the launch of {source.slug}: no recorded instance wrote it"
    back = given_up(candidate, source.given_up)
    if back is not None:
        return f"{source.slug} wrote it, and {describe_given_up(back)}"
    problem = describe_taints(candidate, source.taints)
    return f"{source.slug} wrote it, and {problem}" if problem else ""
