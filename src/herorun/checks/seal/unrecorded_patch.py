"""An instance ran uncommitted edits, and no copy of them can be found.

Why: a checkpoint whose code is in no commit cannot be continued, audited or repeated.
Fix: push the snapshot from the clone that launched it (`git push REMOTE refs/herorun/snapshots/...`
there), or let the DRI accept the loss in a waiver, which the seal then states.
Source: marin-community/marin, manage-hero-run: create a seal commit so that the actual operational
state is recoverable.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Nothing, RecordedEdits
from herorun.core.finding import Verdict, failed, passed


@check(Gate.SEAL, Response.BLOCK)
def unrecorded_patch(edits: RecordedEdits | Nothing) -> list[Verdict]:
    """One verdict for each instance that ran from a dirty tree."""
    if isinstance(edits, Nothing):
        return [passed("every instance ran a commit as it is")]
    missing = [
        failed(f"{name}: {why}", subject=name) for name, why in sorted(edits.missing.items())
    ]
    present = [
        passed(f"the edits of {name} are kept: {where}", subject=name)
        for name, where in sorted(edits.places.items())
    ]
    return [*missing, *present]
