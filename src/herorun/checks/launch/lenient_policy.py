"""A hero run would be launched in a lenient policy mode.

Why: `warn` and `audit` are for inexpensive runs: in them, hardly any finding stops a launch.
Fix: set `mode = "enforce"` in `[policy]`, and let the DRI sign a waiver for each acceptable
finding.
"""

from herorun.core.check import Gate, Mode, Response, check
from herorun.core.contract import Contract
from herorun.core.finding import Verdict, failed, passed


@check(Gate.LAUNCH, Response.BLOCK, always=True)
def lenient_policy(contract: Contract) -> Verdict:
    mode = Mode(contract.policy.mode)
    if mode is Mode.ENFORCE:
        return passed("findings are enforced")
    if contract.is_hero:
        return failed(f"[policy] mode is {mode}, and this is a hero run", subject="[policy] mode")
    does = "are printed and recorded, and do" if mode is Mode.WARN else "are only recorded, and do"
    return passed(
        f"[policy] mode is {mode}: if the contract is committed, findings {does} not stop the "
        "launch of this ordinary run"
    )
