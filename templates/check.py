"""The launch is from no branch.

Why: git removes a commit that is on no branch after a while; then the code of the run is lost, and
its line of work is unknown.
Fix: make a branch where you are and push it: `git switch -c NAME && git push -u origin NAME`.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import WorkTree
from herorun.core.finding import Verdict, failed, passed


@check(Gate.LAUNCH, Response.WARN)
def detached_head(tree: WorkTree) -> Verdict:
    if tree.branch is None:
        return failed(f"HEAD is detached at {tree.commit:.9}")
    return passed(f"on {tree.branch}")
