"""The contract on disk differs from the one that the run was admitted under.

Why: the babysitter follows the admitted contract, so an edit of the file has no effect.
Fix: restore the admitted file; or leave the change: it takes effect at the next `herorun launch
RUN`, not at a relaunch, and the job need not be stopped for it.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.drift import drift_verdict
from herorun.core.evidence import ContractDrift
from herorun.core.finding import Verdict


@check(Gate.HEALTH, Response.WARN, topic=Topic.MONITOR)
def contract_drift(drift: ContractDrift) -> Verdict:
    return drift_verdict(drift, "the admitted contract still applies")
