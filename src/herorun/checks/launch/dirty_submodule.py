"""A submodule is not at the state that the commit names.

Why: the commit names one state of each submodule, and only that state is shipped; you tested
another one.
Fix: commit inside the submodule, push it, and commit the new state in the superproject; or return
to the committed state with `git submodule update --init --recursive`.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Submodule, WorkTree
from herorun.core.finding import Verdict, failed, not_applicable, passed


@check(Gate.LAUNCH, Response.BLOCK)
def dirty_submodule(tree: WorkTree) -> list[Verdict]:
    """One verdict for each submodule."""
    if not tree.submodules:
        return [not_applicable("the commit has no submodules")]
    return [_judge_submodule_changes(submodule) for submodule in tree.submodules]


def _judge_submodule_changes(submodule: Submodule) -> Verdict:
    path, commit = submodule.path, submodule.commit
    if submodule.checked_out is None:
        message = f"{path} is not checked out: this clone has no copy of its {commit:.9}"
        return failed(message, subject=path)
    faults = []
    if submodule.checked_out != commit:
        faults.append(f"is at {submodule.checked_out:.9}, not at the commit's {commit:.9}")
    if submodule.modified:
        faults.append("has uncommitted changes")
    if submodule.untracked:
        faults.append("has untracked files")
    if faults:
        return failed(f"{path} {', and it '.join(faults)}", subject=path)
    return passed(f"{path} is clean at {commit:.9}", subject=path)
