"""The source bundle was not made from the commit that would be launched.

Why: where a bundle or an archive is what really runs, the commit in the logbook is a story unless the two agree.
Fix: make the bundle anew with `git archive` of that commit (the commit, not its tree: only then it says which), and
name it in `[runtime] bundle`; or name the commit as "git:<sha>".
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Bundle, WorkTree
from herorun.core.finding import Verdict, failed, passed, unknown


@check(Gate.LAUNCH, Response.BLOCK)
def bundle_mismatch(bundle: Bundle, tree: WorkTree) -> Verdict:
    if bundle.commit is None:
        return unknown(f"{bundle.name} does not say which commit it was made from", subject=bundle.name)
    if not tree.commit.startswith(bundle.commit):
        return failed(
            f"{bundle.name} was made from {bundle.commit:.9}, and HEAD is {tree.commit:.9}",
            subject=bundle.name,
        )
    return passed(f"{bundle.name} was made from {tree.commit:.9}", subject=bundle.name)
