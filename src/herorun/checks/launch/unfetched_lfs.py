"""Files contain Git LFS pointers instead of their content.

Why: the job would read a few lines of text instead of weights, a tokenizer or data, and may not
even fail.
Fix: `git lfs pull` (after `git lfs install --force`: a set-up with `--skip-smudge` leaves pointers
in the job's copy), and check with `git lfs fsck`; if the run does not read these files, say so in
`[code] impact`, or let the DRI accept it: `herorun waive unfetched-lfs RUN` prints a waiver to
commit.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.code.impact import limit_lines, of_impact
from herorun.core.contract import Contract, Impact
from herorun.core.evidence import ImportClosure, WorkTree
from herorun.core.finding import Verdict, failed, few, passed


@check(Gate.LAUNCH, Response.BLOCK)
def unfetched_lfs(tree: WorkTree, contract: Contract, closure: ImportClosure) -> Verdict:
    """Files that cannot change the training, such as pictures or test data, do not fail."""
    if not tree.pointers:
        return passed("no file is an LFS pointer")
    files = of_impact(tree.pointers, contract.code.impact, closure.files, Impact.BLOCK)
    if not files:
        return passed("no LFS pointer can change the training", *limit_lines(tree.pointers))
    count = f"{len(files)} file{'s are' if len(files) > 1 else ' is'}"
    return failed(f"{count} only a Git LFS pointer: {few(files)}", *limit_lines(files))
