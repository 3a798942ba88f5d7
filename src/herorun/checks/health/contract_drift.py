"""The contract on disk differs from the one that the run was admitted under.

Why: the babysitter follows the admitted contract, so an edit of the file has no effect.
Fix: restore the admitted file; or keep the change for the next launch: `herorun stop RUN`, then
`herorun launch RUN`.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.drift import drift_verdict
from herorun.core.evidence import ContractDrift
from herorun.core.finding import Verdict


@check(Gate.HEALTH, Response.WARN, topic=Topic.MONITOR)
def contract_drift(drift: ContractDrift) -> Verdict:
    return drift_verdict(drift, "the admitted contract still applies")
