"""The scheduler would end the job before its `[budget] accelerator_hours` are used up.

Why: a job that reaches its time limit is killed in the middle of a step; what came after its last
checkpoint is computed and paid for again.
Fix: ask for a longer limit in `[scheduler]`, or plan for a relaunch and correct
`[budget] accelerator_hours`.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.durations import format_span
from herorun.core.estimate import estimate
from herorun.core.evidence import Offered
from herorun.core.finding import Verdict, count, failed, not_applicable, passed


@check(Gate.LAUNCH, Response.WARN)
def short_time_limit(contract: Contract, offer: Offered) -> Verdict:
    forecast = estimate(contract, offer)
    if forecast.wall_hours is None:
        return not_applicable(
            "the contract does not state both [budget] accelerator_hours and [hardware] count"
        )
    if forecast.time_limit_hours is None:
        return not_applicable("the scheduler reports no time limit")
    accelerators = count(contract.hardware.count or 0, "accelerator")
    message = (
        f"{forecast.accelerator_hours:g} accelerator-hours on {accelerators} take "
        f"{format_span(3600 * forecast.wall_hours)}; the time limit is "
        f"{format_span(3600 * forecast.time_limit_hours)}"
    )
    return failed(message, subject="time limit") if forecast.short_by else passed(message)
