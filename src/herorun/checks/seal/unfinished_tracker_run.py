"""The tracker's run is not finished, or ends before the final step.

Why: people look at the tracker for years; a run marked as crashed, or without its last rows, shows
a different end than the checkpoint.
Fix: wait until the client has sent everything (`wandb sync` for data left on the machine); mark a
run that stays open as finished by hand, or let the DRI accept it in a waiver.
Source: marin-community/marin, manage-hero-run: verify that W&B is finished or has the expected
final state. Levanter's `step-N` holds N completed updates, and its last row is `global_step` N-1.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.evidence import (
    FinalStep,
    Metrics,
    Nothing,
    TrackerIdentity,
    TrackerState,
    Unavailable,
)
from herorun.core.finding import Verdict, count, failed, not_applicable, passed, unknown
from herorun.core.seal.last_row import missing_updates


@check(Gate.SEAL, Response.BLOCK)
def unfinished_tracker_run(
    identity: TrackerIdentity | Nothing,
    metrics: Metrics | Nothing | Unavailable,
    final: FinalStep,
    contract: Contract,
) -> list[Verdict]:
    """One verdict for the state, and one for the last step."""
    if isinstance(identity, Nothing):
        return [not_applicable(identity.why or "the tracker has no run ids")]
    if identity.state is TrackerState.UNREACHABLE:
        return [unknown(f"could not query the tracker: {identity.why}", subject="state")]
    return [_report_unfinished(identity), *_last_step(identity, metrics, final, contract)]


def _report_unfinished(identity: TrackerIdentity) -> Verdict:
    name = f"the tracker's run {identity.id}".rstrip()
    if identity.state is TrackerState.FINISHED:
        return passed(f"{name} is finished", subject="state")
    if identity.state in (TrackerState.ABSENT, TrackerState.DELETED):
        message = f"the tracker has no run {identity.id} ({identity.state})"
        return failed(message, subject="state")
    return failed(f"{name} is {identity.state}", subject="state")


def _last_step(
    identity: TrackerIdentity,
    metrics: Metrics | Nothing | Unavailable,
    final: FinalStep,
    contract: Contract,
) -> list[Verdict]:
    if final.value is None:
        return [failed(f"the final step is unknown: {final.source}", subject="step")]
    if identity.last_step is None:
        return [not_applicable("the tracker reports no last step", subject="step")]
    first = contract.tracker.first_step
    logged_steps = identity.last_step + 1 - first
    missing = missing_updates(
        logged_steps, final.value, metrics if isinstance(metrics, Metrics) else None
    )
    row = (
        f"the tracker's last row is step {identity.last_step}, which is {logged_steps} of "
        f"{count(final.value or 0, 'update')}"
    )
    return [
        failed(f"{row}: {missing} {'is' if missing == 1 else 'are'} missing", subject="step")
        if missing
        else passed(row, subject="step")
    ]
