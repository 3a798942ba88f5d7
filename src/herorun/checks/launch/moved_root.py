"""The contract names a different output root than the last instance of the run.

Why: the earlier checkpoints would not be found: the run would start again from an older one or from
step 0, and babysitter, retention and seal would see two places.
Fix: restore the recorded root in `[output]`; or create another run with
`herorun fork RUN NEW --root ROOT`; if the checkpoints were moved with the root, let the DRI sign it
in a waiver.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.evidence import (
    Candidate,
    History,
    Instance,
    LeftCheckpoints,
    Nothing,
    Unavailable,
    candidates_of,
)
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.plan import Plan


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.BLOCK)
def moved_root(
    plan: Plan, history: History, old_checkpoints: LeftCheckpoints | Nothing | Unavailable
) -> list[Verdict]:
    """One verdict for each root that moved."""
    before = history.current
    if before is None:
        return [not_applicable("the run has not been launched before")]
    pairs = {
        "output root": (before.output_root, plan.output_root.value),
        "temporary root": (before.temporary_root or "", plan.temporary_root.value or ""),
    }
    moves = {
        role: roots
        for role, roots in pairs.items()
        if roots[0] and roots[0].rstrip("/") != roots[1]
    }
    if not moves:
        return [
            passed(
                f"writes to {before.output_root}, as {before.name} did", subject=before.output_root
            )
        ]
    return [
        _judge_moved_root(role, *roots, before, plan, old_checkpoints)
        for role, roots in moves.items()
    ]


def _judge_moved_root(
    role: str,
    old: str,
    new: str,
    before: Instance,
    plan: Plan,
    old_checkpoints: LeftCheckpoints | Nothing | Unavailable,
) -> Verdict:
    start = plan.start.value
    start_text = f"start from {start.path}" if start else "start from scratch"
    place = f"would write to {new} and" if new else "has none, and would"
    message = (
        f"the {role} of {before.name} is {old}; this launch {place} {start_text}; "
        f"{_describe_left_behind(old, old_checkpoints)}"
    )
    return failed(message, *(c.path for c in _in(old, old_checkpoints)[:20]), subject=new or role)


def _describe_left_behind(
    root: str, old_checkpoints: LeftCheckpoints | Nothing | Unavailable
) -> str:
    """Which checkpoints remain in the old root."""
    if isinstance(old_checkpoints, Unavailable):
        return f"what lies in {root} could not be read: {old_checkpoints.why}"
    checkpoints = _in(root, old_checkpoints)
    newest = next((c for c in checkpoints if c.complete), None)
    if newest:
        return f"a complete checkpoint of step {newest.step} lies in {root}"
    return f"no complete checkpoint was found in {root}" + (
        f", but {checkpoints[0].path} lies there" if checkpoints else ""
    )


def _in(root: str, old_checkpoints: LeftCheckpoints | Nothing | Unavailable) -> list[Candidate]:
    """The checkpoints of that root, the newest first."""
    checkpoints = [
        c for c in candidates_of(old_checkpoints) if c.root.rstrip("/") == root.rstrip("/")
    ]
    return sorted(checkpoints, key=lambda c: -c.step)
