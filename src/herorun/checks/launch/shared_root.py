"""Another run's contract names the same output root.

Why: two runs in one root prune each other's checkpoints and resume from them; usually a temporary
root was copied with a contract.
Fix: give every run its own roots in `[output]`; remove the contract of a run that will never be
launched again.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import OtherRoots
from herorun.core.finding import Verdict, failed, passed


@check(Gate.LAUNCH, Response.BLOCK)
def shared_root(contract: Contract, others: OtherRoots) -> list[Verdict]:
    """One verdict for each of the run's roots. A root that is inside another run's, or contains it,
    is shared too, and so is one that symbolic links of this machine lead to.
    """
    mine = [contract.output.root, contract.output.temporary_root]
    return [_judge_shared_root(root.rstrip("/"), others) for root in mine if root]


def _judge_shared_root(root: str, others: OtherRoots) -> Verdict:
    for slug, roots in sorted(others.roots.items()):
        for theirs in roots:
            if _overlap(root, theirs.rstrip("/")):
                return failed(f"{root} overlaps {theirs} of the run {slug!r}", subject=root)
            if _overlap(real := _real_path(root, others), _real_path(theirs, others)):
                message = (
                    f"{root} overlaps {theirs} of the run {slug!r}: symbolic links lead both "
                    f"to {real}"
                )
                return failed(message, subject=root)
    return passed(f"no other contract of this commit names {root}", subject=root)


def _real_path(root: str, others: OtherRoots) -> str:
    root = root.rstrip("/")
    return others.real_paths.get(root, root)


def _overlap(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")
