"""The scheduler would give other hardware than the contract states.

Why: a wrong slice type or count never co-schedules, or trains with another mesh, batch and cost than was reviewed.
Fix: mend the scheduler's options or `[hardware]`, so that both say the same.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import Offered
from herorun.core.finding import Verdict, failed, not_applicable, passed


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.WARN)
def hardware_mismatch(contract: Contract, offered: Offered) -> list[Verdict]:
    """One answer for each key that both state."""
    stated = contract.hardware.model_dump(exclude_none=True)
    both = [name for name in stated if name in offered.hardware]
    if not both:
        why = offered.partial or "the scheduler tells nothing that [hardware] states"
        return [not_applicable(why)]
    return [_one(name, stated[name], offered.hardware[name]) for name in both]


def _one(name: str, stated: object, given: object) -> Verdict:
    if str(stated).lower() == str(given).lower():
        return passed(f"{name} is {given}, as stated", subject=name)
    return failed(f"{name} would be {given}, and the contract states {stated}", subject=name)
