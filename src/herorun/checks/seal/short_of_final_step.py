"""The run is not known to have reached its final step.

Why: a job can end with success after less training than planned: a wrong limit, a rounded progress
bar.
Fix: find out why it ended early; relaunch it, or correct `final_step` with a reason in the logbook.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Checkpoints, FinalStep, History, Metrics, Nothing, Unavailable
from herorun.core.finding import NOT_READ, Verdict, count, failed, passed, unknown


@check(Gate.SEAL, Response.BLOCK)
def short_of_final_step(
    metrics: Metrics | Nothing | Unavailable,
    checkpoints: Checkpoints | Nothing | Unavailable,
    final: FinalStep,
    history: History,
) -> Verdict:
    """A complete checkpoint of step N proves N updates, even if the trainer logs only every tenth
    step.
    """
    if final.value is None:
        return failed(f"the final step is unknown: {final.source}", subject="final_step")
    newest = checkpoints.newest if isinstance(checkpoints, Checkpoints) else None
    if newest and newest.step >= final.value:
        return passed(
            f"{newest.path} is complete: step {newest.step} of {final.value}", subject="step"
        )
    last_step = history.reached_step(metrics, checkpoints) if isinstance(metrics, Metrics) else None
    if last_step is not None and last_step >= final.value:
        return passed(f"the last reported step is {last_step} of {final.value}", subject="step")
    gaps = [value.why for value in (metrics, checkpoints) if isinstance(value, Unavailable)]
    if gaps:
        return unknown(NOT_READ + "; ".join(gaps), *gaps, subject="step")
    if last_step is None:
        return failed(f"no step was reported; the final step is {final.value}", subject="step")
    steps = final.value - last_step
    missing = f"{count(steps, 'step')} {'is' if steps == 1 else 'are'} missing"
    return failed(
        f"the last reported step is {last_step} of {final.value}: {missing}", subject="step"
    )
