"""The final step is unknown, or the run would end before it starts.

Why: progress, the remaining cost and the final checkpoint depend on it; a progress bar rounds.
Fix: set `final_step` in the contract: an integer, or a key of the resolved config such as
"trainer.num_train_steps". Seal a run that is already at its end instead of launching it again.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.contract import ContractFile
from herorun.core.contract.toml_lines import line_of
from herorun.core.finding import Verdict, failed, passed
from herorun.core.plan import Plan, StartPoint


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.BLOCK)
def unknown_final_step(plan: Plan, file: ContractFile) -> Verdict:
    final, first = plan.final_step, _first_step_of(plan.start.value)
    if final.value is None:
        line = line_of(file.text, ("final_step",))
        place = f" of {file.path}, line {line}," if line else ""
        return failed(f"the final step{place} is unknown: {final.source}", subject="final_step")
    if final.value <= 0:
        return failed(f"the final step is {final}: it must be positive", subject="final_step")
    if final.value <= first:
        return failed(
            f"the final step is {final}, but the run would start at step {first}",
            subject="final_step",
        )
    return passed(f"ends at step {final}")


def _first_step_of(start: StartPoint | None) -> int:
    """The step that the trainer begins at; from weights without a full state it begins at step
    0.
    """
    return (start.step or 0) if start and start.kind == "full-state" else 0
