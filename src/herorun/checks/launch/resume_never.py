"""The run would continue under a tracker id that the contract says is never resumed.

Why: with `resume = "never"` a second instance under the id mixes two runs in one curve, or the
tracker refuses it after the accelerators are allocated.
Fix: create another run from one of its checkpoints: `herorun fork RUN NEW --reason "..."`; or set
`resume = "allow"` in `[tracker]` if the id may be resumed.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import Metrics, Nothing, PriorLaunch, Unavailable
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown
from herorun.core.identity.intent import goes_on, is_same
from herorun.core.plan import Plan


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.BLOCK)
def resume_never(
    contract: Contract, plan: Plan, prior: PriorLaunch, metrics: Metrics | Nothing | Unavailable
) -> Verdict:
    """An instance that ended before it logged or saved anything does not count."""
    run = plan.tracker.value
    if run.resume != "never":
        return not_applicable(f"{run.id} may be resumed (resume = {run.resume})")
    if not is_same(run, prior):
        return passed(
            f"{run.id} is new: {prior.instance} reported under another id", subject=run.id
        )
    fork = (
        f'`herorun fork {contract.slug} NEW --reason "..."` begins a new run from one of its '
        "checkpoints"
    )
    refusal = f'[tracker] resume is "never", and {prior.instance} reported under {run.id}: {fork}'
    if goes_on(plan) or (isinstance(metrics, Metrics) and metrics.rows):
        return failed(refusal, subject=run.id)
    if isinstance(metrics, Unavailable):
        return unknown(
            f"it is unknown whether {prior.instance} logged under {run.id}: {metrics.why}",
            subject=run.id,
        )
    return passed(f"{prior.instance} logged nothing under {run.id}", subject=run.id)
