"""The commit is not on the remote.

Why: a commit that only this clone has is lost with its disk, and no other machine can resume from
it.
Fix: push the branch; `[code] remote` says which remote counts.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Published
from herorun.core.finding import Verdict, failed, few, passed, unknown


@check(Gate.LAUNCH, Response.BLOCK)
def unpushed_commit(published: Published) -> Verdict:
    """Without a remote there is nothing to ask: see no-remote. On which branch it is: see
    wrong-branch.
    """
    refs = published.refs or published.elsewhere
    if refs:
        return passed(f"{published.commit:.9} is on {published.remote}: {few(refs)}")
    if published.why_not:
        return unknown(f"could not check whether {published.remote} has it: {published.why_not}")
    return failed(
        f"no published ref of {published.remote} contains commit {published.commit:.9}: push it"
    )
