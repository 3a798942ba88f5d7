"""The contract's file was edited after the newest instance was launched.

Why: one name would then cover two different runs, and an unintended change is found days later in
the curves.
Fix: check each line. If the change is intended, launch, and state the reason in the logbook
(`herorun note RUN --status "..." --evidence "..." --decision "..."`); otherwise revert it.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.drift import drift_verdict
from herorun.core.evidence import ContractDrift
from herorun.core.finding import Verdict


@check(Gate.LAUNCH, Response.WARN)
def contract_drift(drift: ContractDrift) -> Verdict:
    return drift_verdict(drift, "the next instance would run under the contract as it is now")
