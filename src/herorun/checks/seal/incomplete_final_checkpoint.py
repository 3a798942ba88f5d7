"""The final checkpoint is missing, incomplete or only temporary.

Why: the final save runs after the last step and is easily lost, and a temporary one is pruned
later; it is what the whole run was paid for.
Fix: let the trainer finish its final save in the permanent root; if it is lost, relaunch from the
newest complete one.
Source: marin-community/marin #5022: final saves that the trainer did not wait for, lost in at least
6 of 12 runs.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Candidate, Checkpoints, FinalStep, Nothing
from herorun.core.finding import Verdict, failed, passed, unknown


@check(Gate.SEAL, Response.BLOCK)
def incomplete_final_checkpoint(checkpoints: Checkpoints | Nothing, final: FinalStep) -> Verdict:
    if final.value is None:
        return failed(f"the final step is unknown: {final.source}", subject="final_step")
    listing = checkpoints if isinstance(checkpoints, Checkpoints) else Checkpoints()
    at_end = [candidate for candidate in listing.candidates if candidate.step == final.value]
    good = next((c for c in at_end if c.complete and not c.temporary), None)
    if good:
        return passed(f"{good.path} is complete", subject=good.path)
    unreadable = next((c for c in at_end if not c.examined), None)
    if unreadable:
        return unknown(
            f"{unreadable.path}: {unreadable.problem}",
            subject=unreadable.path,
        )
    if at_end:
        return failed("; ".join(_wrong(candidate) for candidate in at_end), subject=at_end[0].path)
    of_step = (
        f"the newest complete checkpoint is {listing.newest.path}"
        if listing.newest
        else "there is no complete checkpoint at all"
    )
    return failed(
        f"there is no checkpoint of step {final.value}; {of_step}", subject=f"step {final.value}"
    )


def _wrong(candidate: Candidate) -> str:
    if candidate.problem:
        return f"{candidate.path} is incomplete: {candidate.problem}"
    return f"{candidate.path} is only temporary"
