"""The last reported step is before the final one.

Why: a job can end with success and have trained less than was planned: a wrong limit, a rounded progress bar.
Fix: find out why it ended early; relaunch it, or correct `final_step` with a reason in the logbook.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import FinalStep, Metrics, Nothing
from herorun.core.finding import Verdict, failed, passed


@check(Gate.SEAL, Response.BLOCK)
def short_of_final_step(metrics: Metrics | Nothing, final: FinalStep) -> Verdict:
    if final.value is None:
        return failed(f"the final step is unknown: {final.source}", subject="final_step")
    if isinstance(metrics, Nothing):
        return failed(f"no step was reported of {final.value}", subject="step")
    said = f"the last reported step is {metrics.step} of {final.value}"
    if metrics.step < final.value:
        return failed(f"{said}: {final.value - metrics.step} are missing", subject="step")
    return passed(said, subject="step")
