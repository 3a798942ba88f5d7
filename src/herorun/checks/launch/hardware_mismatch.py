"""The scheduler would give different hardware than the contract states.

Why: a wrong slice type or count never starts, or trains with a different mesh, batch and cost than
was reviewed.
Fix: make the scheduler's options and `[hardware]` agree.
"""

from typing import Any

from herorun.core.admission.hardware import same_accelerator, same_count, same_topology
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
        why = offered.partial or "the scheduler reports nothing that [hardware] states"
        return [not_applicable(why)]
    kind = str(stated.get("accelerator") or offered.hardware.get("accelerator") or "")
    return [_compare_hardware(name, stated[name], offered.hardware[name], kind) for name in both]


def _compare_hardware(name: str, stated: Any, actual: Any, kind: str) -> Verdict:
    """However the two spell it; what cannot be compared is said."""
    same = _is_same_hardware(name, stated, actual, kind)
    offer = " or ".join(map(str, actual)) if isinstance(actual, list | tuple) else actual
    if same is None:
        return not_applicable(f"{name}: {offer} cannot be compared with {stated}", subject=name)
    if same:
        return passed(f"{name} is {offer}, as stated", subject=name)
    return failed(f"{name} would be {offer}, and the contract states {stated}", subject=name)


def _is_same_hardware(name: str, stated: Any, actual: Any, kind: str) -> bool | None:
    match name:
        case "accelerator":
            return same_accelerator(str(stated), str(actual))
        case "count":
            return same_count(stated, actual, kind)
        case "topology":
            return same_topology(str(stated), str(actual))
    places = (
        [str(place).lower() for place in actual]
        if isinstance(actual, (list, tuple))
        else [str(actual).lower()]
    )
    return all(
        place == str(stated).lower() or place.startswith(f"{str(stated).lower()}-")
        for place in places
    )
