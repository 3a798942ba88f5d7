"""The scheduler may restart the job by itself.

Why: a restart that herorun does not decide is not checked, starts from whatever the trainer finds,
and may run while the previous job still writes.
Fix: set `[scheduler] restarts = "herorun"`: herorun then relaunches by its own rules.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.finding import Verdict, failed, passed


@check(Gate.LAUNCH, Response.WARN)
def restarting_back_end(contract: Contract) -> Verdict:
    kind = contract.scheduler.kind
    if contract.scheduler.restarts == "backend":
        return failed(f"the scheduler {kind} may start the job again by itself")
    return passed(f"the scheduler {kind} starts the job only when herorun asks")
