"""A run that has trained before would start from scratch.

Why: a trainer that finds no checkpoint starts at step 0 under the run's name, overwrites existing
data, and loses the steps you paid for.
Fix: set `[start] from` to the checkpoint to continue from, usually the newest complete one; if none
is listed, look in other roots. To give up the earlier steps: `herorun waive scratch-with-history
RUN` prints a waiver to commit.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.evidence import (
    Checkpoints,
    History,
    LeftCheckpoints,
    Metrics,
    Nothing,
    Unavailable,
    candidates_of,
    in_order,
)
from herorun.core.finding import Verdict, count, failed, not_applicable, passed, unknown
from herorun.core.plan import Plan


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.BLOCK)
def scratch_with_history(
    plan: Plan,
    history: History,
    own: Checkpoints | Nothing,
    metrics: Metrics | Nothing | Unavailable,
    old_checkpoints: LeftCheckpoints | Nothing | Unavailable,
) -> Verdict:
    if plan.start.value is not None:
        return not_applicable("the run starts from a checkpoint")
    current = history.current
    if current is None:
        return not_applicable("the run has not been launched before")
    if mine := in_order(candidates_of(own, old_checkpoints))[::-1]:
        newest = next((f"; newest known complete: {c.path}" for c in mine if c.complete), "")
        return failed(
            f"{current.name} left {count(len(mine), 'checkpoint')}{newest}",
            *(f"{c.path} ({c.state})" for c in mine[:20]),
            subject=current.name,
        )
    if isinstance(metrics, Unavailable):
        return unknown(f"could not read the metrics: {metrics.why}", subject=current.name)
    if isinstance(metrics, Metrics) and metrics.rows:
        message = f"{current.name} left no checkpoint, but metrics up to step {metrics.high_water}"
        return failed(message, subject=current.name)
    if isinstance(old_checkpoints, Unavailable):
        return unknown(
            f"could not read the recorded roots: {old_checkpoints.why}", subject=current.name
        )
    return passed(
        f"{current.name} left no step behind: neither checkpoint nor metrics", subject=current.name
    )
