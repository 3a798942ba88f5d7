"""Files hold Git LFS pointers in place of their content.

Why: the job would read a few lines of text where weights, a tokenizer or data should be, and may not even fail.
Fix: `git lfs pull` (after `git lfs install`), and see that `git lfs fsck` is content; if the run does not read
these files, let the DRI say so in a waiver.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import WorkTree
from herorun.core.finding import Verdict, failed, few, passed


@check(Gate.LAUNCH, Response.BLOCK)
def unfetched_lfs(tree: WorkTree) -> Verdict:
    if not tree.pointers:
        return passed("no file is an LFS pointer")
    count = f"{len(tree.pointers)} file{'s are' if len(tree.pointers) > 1 else ' is'}"
    return failed(f"{count} a Git LFS pointer only: {few(tree.pointers)}", *tree.pointers)
