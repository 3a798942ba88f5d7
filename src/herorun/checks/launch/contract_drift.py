"""The contract's plan has changed since the newest instance was admitted.

Why: the same name then covers two different runs; a change that nobody meant is found days later, in the curves.
Fix: look at each line; where it is meant, launch, and say in the logbook why (`herorun note RUN --status "..." --evidence "..." --decision "..."`); else put it back.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.drift import drift_verdict
from herorun.core.evidence import ContractDrift
from herorun.core.finding import Verdict


@check(Gate.LAUNCH, Response.WARN)
def contract_drift(drift: ContractDrift) -> Verdict:
    return drift_verdict(drift, "the next instance would run under the contract as it is now")
