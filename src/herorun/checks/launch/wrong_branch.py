"""The commit is on the remote, but on none of the branches that the contract allows.

Why: a commit of a pull request or of a personal branch was not merged, and may be gone tomorrow.
Fix: merge it and launch from the branch that `[code] refs` names; or name its branch there.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import Published
from herorun.core.finding import Verdict, failed, few, not_applicable, passed, unknown


@check(Gate.LAUNCH, Response.BLOCK)
def wrong_branch(published: Published, contract: Contract) -> Verdict:
    """A commit that is not on the remote at all: see unpushed-commit."""
    if published.refs:
        return passed(f"{published.commit:.9} is on {few(published.refs)}")
    if published.why_not:
        return unknown(f"could not check which branches contain it: {published.why_not}")
    if not published.elsewhere:
        return not_applicable(f"{published.commit:.9} is on no branch of {published.remote}")
    allowed = few(contract.code.refs)
    return failed(
        f"{published.commit:.9} is on {few(published.elsewhere)} of {published.remote}, and not "
        f"on {allowed}",
        *published.elsewhere,
    )
