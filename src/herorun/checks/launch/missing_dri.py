"""The contract names no responsible person.

Why: a person must decide when the run needs judgement, money or a cluster.
Fix: set `dri = "@handle"` in the contract, or `git config user.name` for the launching user.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import Launcher
from herorun.core.finding import Verdict, failed, passed


@check(Gate.LAUNCH, Response.BLOCK)
def missing_dri(contract: Contract, launcher: Launcher) -> Verdict:
    if contract.dri:
        return passed(f"the contract names {contract.dri}")
    if launcher.user:
        return passed(
            f"{launcher.user}, the launching user, counts as the DRI (inferred: the contract names "
            "none)"
        )
    return failed("the contract names no dri, and the launching user is unknown", subject="dri")
