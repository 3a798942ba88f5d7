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
def hardware_mismatch(contract: Contract, offer: Offered) -> list[Verdict]:
    """One verdict for each key that both state."""
    stated_hardware = contract.hardware.model_dump(exclude_none=True)
    both = [name for name in stated_hardware if name in offer.hardware]
    if not both:
        why = offer.partial or "the scheduler reports nothing that [hardware] states"
        return [not_applicable(why)]
    kind = str(stated_hardware.get("accelerator") or offer.hardware.get("accelerator") or "")
    return [
        _compare_hardware(name, stated_hardware[name], offer.hardware[name], kind) for name in both
    ]


def _compare_hardware(name: str, stated_value: Any, actual: Any, kind: str) -> Verdict:
    """Spellings may differ; what cannot be compared is unknown."""
    same = _is_same_hardware(name, stated_value, actual, kind)
    offer = " or ".join(map(str, actual)) if isinstance(actual, list | tuple) else actual
    if same is None:
        return not_applicable(
            f"{name}: {offer} cannot be compared with {stated_value}", subject=name
        )
    if same:
        return passed(f"{name} is {offer}, as stated", subject=name)
    return failed(f"{name} would be {offer}, but the contract states {stated_value}", subject=name)


def _is_same_hardware(name: str, stated_value: Any, actual: Any, kind: str) -> bool | None:
    match name:
        case "accelerator":
            return same_accelerator(str(stated_value), str(actual))
        case "count":
            return same_count(stated_value, actual, kind)
        case "topology":
            return same_topology(str(stated_value), str(actual))
    places = (
        [str(place).lower() for place in actual]
        if isinstance(actual, (list, tuple))
        else [str(actual).lower()]
    )
    return all(
        place == str(stated_value).lower() or place.startswith(f"{str(stated_value).lower()}-")
        for place in places
    )
