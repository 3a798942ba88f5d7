"""The commit is not on the remote.

Why: a commit that only this clone has is lost with its disk, and no other machine can resume from
it.
Fix: push the branch; `[code] remote` says which remote counts.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Published
from herorun.core.finding import Verdict, failed, few, passed, unknown


@check(Gate.LAUNCH, Response.BLOCK)
def unpushed_commit(published_commit: Published) -> Verdict:
    """Not applicable without a remote: see no-remote. `wrong-branch` checks the branch."""
    refs = published_commit.refs or published_commit.elsewhere
    if refs:
        return passed(f"{published_commit.commit:.9} is on {published_commit.remote}: {few(refs)}")
    if published_commit.why_not:
        return unknown(
            f"could not check whether {published_commit.remote} has it: {published_commit.why_not}"
        )
    return failed(
        f"no published ref of {published_commit.remote} contains commit "
        f"{published_commit.commit:.9}: push it"
    )
