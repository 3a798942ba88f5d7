"""A waiver matches no open finding, has expired, or uses a check's old name.

Why: a waiver that matches nothing today may match a finding tomorrow that was not reviewed.
Fix: remove it from the contract; or correct its `check` and `subject`; or, if it has expired, let a
person sign it again.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import WaiverUse
from herorun.core.finding import Verdict
from herorun.core.waivers import waiver_verdicts


@check(Gate.LAUNCH, Response.WARN)
def unused_waiver(use: WaiverUse) -> list[Verdict]:
    """One verdict for each such waiver."""
    return waiver_verdicts(use)
