"""The contract does not state where the run starts, what it keeps or where it writes.

Why: an inferred value is a guess; a wrong guess about where a run starts, what it keeps or where it
writes cannot be undone after the launch.
Fix: state it in the contract: `[start]`, `[checkpoints]` or `[output]`. Other inferred values are
only marked; a value that comes from a key of the contract does not count as inferred.
"""

from dataclasses import fields

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.finding import Verdict, failed, passed
from herorun.core.plan import Plan

OF_EVERY_RUN = ("start", "output_root", "temporary_root")
OF_A_HERO_RUN = (*OF_EVERY_RUN, "retention")  # an ordinary run's retention has a documented default


@check(Gate.LAUNCH, Response.BLOCK)
def unconfirmed_inference(contract: Contract, plan: Plan) -> list[Verdict]:
    """One verdict for each inferred value that must be stated; without any, one that lists the
    others.
    """
    inferred_values = {
        field.name: str(getattr(plan, field.name))
        for field in fields(plan)
        if getattr(plan, field.name).inferred
    }
    names = OF_A_HERO_RUN if contract.is_hero else OF_EVERY_RUN
    guessed_names = [name for name in names if name in inferred_values]
    if guessed_names:
        return [
            failed(
                f"{name} is not stated: {_describe_inference(plan, name)}",
                inferred_values[name],
                subject=name,
            )
            for name in guessed_names
        ]
    if not inferred_values:
        return [passed("nothing in the plan is inferred")]
    labels = [f"{name}: {_describe_inference(plan, name)}" for name in inferred_values]
    return [passed(f"inferred, and needs no confirmation: {', '.join(inferred_values)}", *labels)]


def _describe_inference(plan: Plan, name: str) -> str:
    return f"inferred from {getattr(plan, name).source}"
