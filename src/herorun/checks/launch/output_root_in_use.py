"""An output root contains data that is not the output of the run's newest instance.

Why: two runs in one root overwrite each other's checkpoints, and a resume may load the other run's.
Fix: keep the previous instance's root, or choose a new one in `[output]`; if the data is this run's
own, let the DRI say so in a waiver.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.evidence import History, Instance, OutputRoots
from herorun.core.finding import Verdict, failed, few, passed


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.WARN, always=True)
def output_root_in_use(roots: OutputRoots, history: History) -> list[Verdict]:
    """One verdict for each root."""
    return [_judge_output_root(root, roots.entries[root], history) for root in roots.entries]


def _judge_output_root(root: str, entries: tuple[str, ...] | None, history: History) -> Verdict:
    before = history.current
    note = (
        f"; {before.name} wrote to {before.output_root}"
        if before and not _is_root_of(root, before)
        else ""
    )
    if entries is None:
        return passed(f"{root} does not exist yet{note}", subject=root)
    if not entries:
        return passed(f"{root} is empty{note}", subject=root)
    owner = next(
        (instance for instance in reversed(history.instances) if _is_root_of(root, instance)), None
    )
    if owner is None:
        message = f"no instance of this run wrote what lies in {root}: {few(entries)}"
        return failed(message, *entries[:20], subject=root)
    if note:
        message = f"{root} contains the output of {owner.name}, but{note.removeprefix(';')}"
        return failed(message, *entries[:20], subject=root)
    return passed(f"{root} was written by {owner.name} of this run", subject=root)


def _is_root_of(root: str, instance: Instance) -> bool:
    return root.rstrip("/") in instance.roots
