"""A waiver signs nothing, or is over.

Why: a signature that covers nothing today covers something tomorrow that nobody has looked at.
Fix: take it out of the contract; or correct its `check` and `subject`; or let a person sign it anew.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import WaiverUse
from herorun.core.finding import Verdict
from herorun.core.waivers import waiver_verdicts


@check(Gate.LAUNCH, Response.WARN)
def unused_waiver(use: WaiverUse) -> list[Verdict]:
    """One answer for each such waiver."""
    return waiver_verdicts(use)
