"""A waiver for the seal matches no finding, or has expired.

Why: the seal states what was waived; a signature that covers nothing raises a question that has
no answer later.
Fix: remove it from the contract; or correct its `check` and `subject`; or, if it has expired, let a
person sign it again.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import WaiverUse
from herorun.core.finding import Verdict
from herorun.core.waivers import waiver_verdicts


@check(Gate.SEAL, Response.WARN)
def unused_waiver(use: WaiverUse) -> list[Verdict]:
    """One verdict for each such waiver."""
    return waiver_verdicts(use)
