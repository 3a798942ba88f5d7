"""The contract on disk is no longer the one that the run was admitted under.

Why: the babysitter goes by the admitted contract: whoever edits the file believes in a change that nobody follows.
Fix: put the file back as it was admitted; or launch again, so that the change is admitted.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.drift import drift_verdict
from herorun.core.evidence import ContractDrift
from herorun.core.finding import Verdict


@check(Gate.HEALTH, Response.WARN, topic=Topic.MONITOR)
def contract_drift(drift: ContractDrift) -> Verdict:
    return drift_verdict(drift, "the admitted contract stands")
