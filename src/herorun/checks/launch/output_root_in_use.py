"""An output root holds something that this run did not write.

Why: two runs in one root overwrite each other's checkpoints, and a resume may load the other run's.
Fix: choose a fresh root in `[output]`; if what lies there is this run's own, let the DRI say so in a waiver.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.evidence import History, OutputRoots
from herorun.core.finding import Verdict, failed, few, passed


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.WARN)
def output_root_in_use(roots: OutputRoots, history: History) -> list[Verdict]:
    """One answer for each root."""
    owners = {root: instance.name for instance in history.instances for root in instance.roots}
    return [_one(root, roots.entries[root], owners.get(root.rstrip("/"))) for root in roots.entries]


def _one(root: str, entries: tuple[str, ...] | None, owner: str | None) -> Verdict:
    if entries is None:
        return passed(f"{root} does not exist yet", subject=root)
    if not entries:
        return passed(f"{root} is empty", subject=root)
    if owner:
        return passed(f"{root} was written by {owner} of this run", subject=root)
    return failed(
        f"no instance of this run wrote what lies in {root}: {few(entries)}", *entries[:20], subject=root
    )
