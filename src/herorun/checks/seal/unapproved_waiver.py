"""The seal would list a waiver that the person it names did not approve.

Why: a waiver permits expensive harm, and anyone can write a name into a file; git records who
committed it.
Fix: let the named person commit it; name other approvers in `[policy] approvers`, with the address
of their commits ("@ana <ana@example.org>"). `[policy] approvals = "recorded"` accepts the name
without proof, except for a hero run.
"""

from herorun.core.approvals import approval_verdicts
from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import Approvals, Waivers
from herorun.core.finding import Verdict


@check(Gate.SEAL, Response.BLOCK)
def unapproved_waiver(contract: Contract, waivers: Waivers, approvals: Approvals) -> list[Verdict]:
    """One verdict for each waiver; no waiver can cover this check."""
    return list(approval_verdicts(contract, waivers.waivers, approvals))
