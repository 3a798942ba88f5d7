"""The contract does not allow this version of herorun.

Why: another version may judge the run by other rules than those that people reviewed.
Fix: install the version that the contract's `herorun` names, or commit another specifier there.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import OwnVersion
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.requirements import version_fits


@check(Gate.LAUNCH, Response.BLOCK)
def herorun_mismatch(own: OwnVersion) -> Verdict:
    """Not evaluated at a relaunch: a babysitter of another version must evaluate the last day again
    before it may relaunch.
    """
    if not own.pinned:
        return not_applicable("the contract allows every version of herorun")
    if version_fits(own.pinned, own.running):
        return passed(f"the contract allows herorun {own.running} ({own.pinned})")
    return failed(
        f"this is herorun {own.running}, but the contract allows {own.pinned}", subject=own.running
    )
