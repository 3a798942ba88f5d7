"""The source tree has uncommitted changes.

Why: code that cannot be checked out again cannot be resumed, rolled back or audited.
Fix: commit and push, or remove what is left over; or let the DRI waive it: the commit is run, without the edits.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import WorkTree
from herorun.core.finding import Verdict, failed, few, passed


@check(Gate.LAUNCH, Response.BLOCK)
def dirty_tree(tree: WorkTree) -> Verdict:
    if not tree.dirty:
        return passed(f"clean at {tree.commit:.9}")
    count = f"{len(tree.dirty)} uncommitted change{'s' if len(tree.dirty) > 1 else ''}"
    return failed(f"{count} on {tree.commit:.9}: {few(tree.dirty)}", *tree.dirty)
