"""A waiver was not approved by whom it says.

Why: a waiver lets expensive harm pass, and a name in a file is written by anybody; who committed it is known to git.
Fix: let the person whom it names commit it; name who may approve beside the DRI in `[policy] approvers`, with the address of their commits ("@ana <ana@example.org>"). `[policy] approvals = "recorded"` takes the name at its word, except of a hero run.
"""

from herorun.core.approvals import approval_verdicts
from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import Approvals, Waivers
from herorun.core.finding import Verdict


@check(Gate.LAUNCH, Response.BLOCK)
def unapproved_waiver(contract: Contract, waivers: Waivers, approvals: Approvals) -> list[Verdict]:
    """One answer for each waiver; no waiver covers it."""
    return list(approval_verdicts(contract, waivers.waivers, approvals))
