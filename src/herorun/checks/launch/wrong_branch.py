"""The commit is on the remote, but on none of the branches that the contract allows.

Why: a commit of a pull request or of a personal branch was not merged, and may be gone tomorrow.
Fix: merge it and launch from the branch that `[code] refs` names; or name its branch there.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import Published
from herorun.core.finding import Verdict, failed, few, not_applicable, passed, unknown


@check(Gate.LAUNCH, Response.BLOCK)
def wrong_branch(published_commit: Published, contract: Contract) -> Verdict:
    """A commit that is on no branch of the remote is unpushed-commit's failure."""
    if published_commit.refs:
        return passed(f"{published_commit.commit:.9} is on {few(published_commit.refs)}")
    if published_commit.why_not:
        return unknown(f"could not check which branches contain it: {published_commit.why_not}")
    if not published_commit.elsewhere:
        return not_applicable(
            f"{published_commit.commit:.9} is on no branch of {published_commit.remote}"
        )
    allowed_refs = few(contract.code.refs)
    return failed(
        f"{published_commit.commit:.9} is on {few(published_commit.elsewhere)} of "
        f"{published_commit.remote} but not on {allowed_refs}",
        *published_commit.elsewhere,
    )
