"""The origin of the start checkpoint is not recorded.

Why: a path is only a claim; which code, data and settings made the checkpoint cannot be looked up
later.
Fix: name the recorded run that wrote it in `[start] source_run`.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import History
from herorun.core.finding import Verdict, failed, not_applicable
from herorun.core.lineage import is_under
from herorun.core.plan import Plan


@check(Gate.LAUNCH, Response.WARN, at_relaunch=AtRelaunch.WARN)
def unverified_lineage(contract: Contract, plan: Plan, history: History) -> Verdict:
    start = plan.start.value
    if start is None:
        return not_applicable(plan.start.source)
    if is_under(start.path, (root for instance in history.instances for root in instance.roots)):
        return not_applicable("the run continues from its own checkpoint", subject=start.path)
    if contract.start.source_run:
        return not_applicable(
            f"the contract names {contract.start.source_run}: see wrong-lineage", subject=start.path
        )
    return failed(
        f"the lineage of {start.path} is unverified: no source_run is named", subject=start.path
    )
