"""The commit is not on the remote.

Why: a commit that only this clone has is one disk failure from being gone, and no other machine can resume from it.
Fix: push the branch; `[code] refs` says which refs of the remote count as published.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Published
from herorun.core.finding import Verdict, failed, few, passed


@check(Gate.LAUNCH, Response.BLOCK)
def unpushed_commit(published: Published) -> Verdict:
    """Without a remote there is nothing to ask: see no-remote."""
    if published.refs:
        return passed(f"{published.commit:.9} is on {published.remote}: {few(published.refs)}")
    return failed(f"no published ref of {published.remote} contains commit {published.commit:.9}: push it")
