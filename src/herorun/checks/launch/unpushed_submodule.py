"""A submodule's remote lacks the commit that the run's commit names.

Why: the superproject is pushed and looks complete, but a clone fails at that submodule.
Fix: push the submodule's branch (`git push --recurse-submodules=on-demand` does both).
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Submodule, WorkTree
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown


@check(Gate.LAUNCH, Response.BLOCK)
def unpushed_submodule(tree: WorkTree) -> list[Verdict]:
    """One verdict for each submodule."""
    if not tree.submodules:
        return [not_applicable("the commit has no submodules")]
    return [_judge_submodule_push(submodule) for submodule in tree.submodules]


def _judge_submodule_push(submodule: Submodule) -> Verdict:
    path, label = submodule.path, f"commit {submodule.commit:.9} of {submodule.path}"
    if submodule.checked_out is None:
        return not_applicable(f"{path} is not checked out: see dirty-submodule", subject=path)
    if submodule.published is None:
        return unknown(f"could not ask whether {label} is published: {submodule.why}", subject=path)
    if not submodule.published:
        return failed(f"{label} is not published: {submodule.why or 'push it'}", subject=path)
    return passed(f"{label} is on its remote", subject=path)
