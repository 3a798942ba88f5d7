"""The run has checkpoints, but none that it may continue from.

Why: an incomplete checkpoint cannot be resumed from, and one of a rejected or damaged lineage must
not be; a person must choose an older one.
Fix: the DRI names a complete checkpoint in `[start] from`, with a `[start] reason`.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import Candidate, Checkpoints, History
from herorun.core.finding import Verdict, count, failed, not_applicable, passed
from herorun.core.lineage import acceptable, is_rejected, mistrust, refusal


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.BLOCK)
def no_complete_checkpoint(contract: Contract, history: History, own: Checkpoints) -> Verdict:
    if not history.instances:
        return not_applicable("the run has not been launched before")
    if contract.start.from_ is not None and (
        contract.start.reason or not _has_mistrusted_checkpoint(own, contract, history)
    ):
        return not_applicable("the contract names a start")
    if not own.candidates:
        return not_applicable("the run has no checkpoints yet")
    newest = acceptable(own.candidates, contract, history).newest
    if newest:
        return passed(f"{newest.path} is complete", subject=newest.path)
    wrong = [
        f"{c.path}: {_describe_why_incomplete(c, contract, history)}"
        for c in reversed(own.candidates)
    ]
    message = (
        f"none of {count(len(wrong), 'checkpoint')} can be resumed from; the newest is {wrong[0]}"
        if len(wrong) > 1
        else f"the only checkpoint cannot be resumed from: {wrong[0]}"
    )
    return failed(message, *wrong[:20], subject=own.candidates[-1].path)


def _has_mistrusted_checkpoint(own: Checkpoints, contract: Contract, history: History) -> bool:
    """Whether complete checkpoints exist that the record excludes: a start from before them is a
    person's decision.
    """
    good = (
        c for c in own.candidates if c.complete and not is_rejected(c.path, contract.start.rejected)
    )
    return any(mistrust(candidate, history) for candidate in good)


def _describe_why_incomplete(candidate: Candidate, contract: Contract, history: History) -> str:
    return refusal(candidate, contract, history) or candidate.problem or "it was not inspected"
