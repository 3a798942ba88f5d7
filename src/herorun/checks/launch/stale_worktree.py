"""The remote's branch has newer commits that can change the training.

Why: a run that starts from last week's checkout repeats bugs that have been fixed since.
Fix: pull and launch again; or let the DRI waive it, if the older code is intended.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.code.impact import listed, of_impact
from herorun.core.contract import Contract, Impact
from herorun.core.evidence import ImportClosure, Published
from herorun.core.finding import Verdict, count, failed, few, not_applicable, passed, unknown


@check(Gate.LAUNCH, Response.BLOCK)
def stale_worktree(published: Published, contract: Contract, closure: ImportClosure) -> Verdict:
    """What the commits between HEAD and the tip change, taken together."""
    if published.why_not:
        return unknown(f"could not measure how far HEAD is behind: {published.why_not}")
    if published.ref is None:
        return not_applicable(
            f"no published ref of {published.remote} contains {published.commit:.9}"
        )
    if not published.behind:
        return passed(f"{published.commit:.9} is the tip of {published.ref}", subject=published.ref)
    files = of_impact(published.behind_files, contract.code.impact, closure.files, Impact.BLOCK)
    commits = count(published.behind, "commit")
    where = f"{published.ref} of {published.remote} is {commits} ahead"
    if not files:
        message = f"{where}, and none of them can change the training"
        return passed(message, *listed(published.behind_files), subject=published.ref)
    changes = f"{count(len(files), 'file')} that can change the training"
    return failed(f"{where}, with {changes}: {few(files)}", *listed(files), subject=published.ref)
