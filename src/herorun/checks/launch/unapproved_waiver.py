"""A waiver was not approved by the person it names.

Why: a waiver can permit an expensive mistake, and anyone can write a name into a file; git records
who committed it.
Fix: let the named person commit it; name other approvers in `[policy] approvers`, with the address
of their commits ("@ana <ana@example.org>"). `[policy] approvals = "recorded"` accepts the name
without proof, except for a hero run.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import Approvals, Waivers
from herorun.core.finding import Verdict, not_applicable


@check(Gate.LAUNCH, Response.BLOCK)
def unapproved_waiver(contract: Contract, waivers: Waivers, approvals: Approvals) -> list[Verdict]:
    """One verdict for each waiver; no waiver can cover this check."""
    from herorun.core.approvals import approval_verdicts

    verdicts = list(approval_verdicts(contract, waivers.waivers, approvals))
    return verdicts or [not_applicable("the committed contract has no waiver")]
