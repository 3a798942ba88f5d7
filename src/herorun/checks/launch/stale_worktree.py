"""The remote's branch has newer commits that can change the training.

Why: a run that starts from last week's checkout repeats bugs that have been fixed since.
Fix: pull and launch again; or let the DRI waive it, if the older code is intended.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.code.impact import limit_lines, of_impact
from herorun.core.contract import Contract, Impact
from herorun.core.evidence import ImportClosure, Published
from herorun.core.finding import Verdict, count, failed, few, not_applicable, passed, unknown


@check(Gate.LAUNCH, Response.BLOCK)
def stale_worktree(
    published_commit: Published, contract: Contract, closure: ImportClosure
) -> Verdict:
    """Judges the combined changes of the commits between HEAD and the tip."""
    if published_commit.why_not:
        return unknown(f"could not measure how far HEAD is behind: {published_commit.why_not}")
    if published_commit.ref is None:
        return not_applicable(
            f"no published ref of {published_commit.remote} contains {published_commit.commit:.9}"
        )
    if not published_commit.behind:
        return passed(
            f"{published_commit.commit:.9} is the tip of {published_commit.ref} of "
            f"{published_commit.remote}",
            subject=published_commit.ref,
        )
    files = of_impact(
        published_commit.behind_files, contract.code.impact, closure.files, Impact.BLOCK
    )
    commits = count(published_commit.behind, "commit")
    where = f"{published_commit.ref} of {published_commit.remote} is {commits} ahead"
    if not files:
        message = f"{where}, without a change that affects the training"
        return passed(
            message, *limit_lines(published_commit.behind_files), subject=published_commit.ref
        )
    changes = f"{count(len(files), 'file')} that can change the training"
    return failed(
        f"{where}, with {changes}: {few(files)}", *limit_lines(files), subject=published_commit.ref
    )
