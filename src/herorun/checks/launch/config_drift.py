"""A value of the config, the command or the environment differs from the last instance's and may
change the training.

Why: a different batch size, step count, optimizer, seed, mesh or data under the old name joins two
runs in one curve, and metrics do not show it.
Fix: restore the value; or launch a separate run, with a new slug, tracker id and `[start] from`; or
set the key's class in `[config] classes`; or let the DRI accept it: `herorun waive config-drift
RUN` prints a waiver to commit, for each key.
"""

from collections.abc import Iterable

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.config.diff import ConfigChange, diff_launches
from herorun.core.contract import Contract, KeyClass
from herorun.core.evidence import (
    Checkpoints,
    LeftCheckpoints,
    Metrics,
    Nothing,
    PriorLaunch,
    Unavailable,
)
from herorun.core.finding import Verdict, failed, few, passed
from herorun.core.identity.intent import is_same
from herorun.core.lineage import left_no_step
from herorun.core.plan import Plan
from herorun.core.redaction.scrub import scrub_tree

MAX_VERDICTS = 50  # verdicts; one more sums up the rest


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.BLOCK)
def config_drift(
    plan: Plan,
    prior: PriorLaunch,
    contract: Contract,
    own: Checkpoints | Nothing | Unavailable,
    metrics: Metrics | Nothing | Unavailable,
    left_checkpoints: LeftCheckpoints | Nothing | Unavailable,
) -> list[Verdict]:
    """One verdict for each key that blocks, and one for all the rest. If the run left neither a row
    nor a checkpoint, this launch does not continue it.
    """
    # The record contains the last plan with secrets masked: without masks, every masked value would
    # appear to have changed.
    changes = diff_launches(prior.plan, scrub_tree(plan.values), contract.config)
    same_run = is_same(plan.tracker.value, prior) and not left_no_step(
        own, metrics, left_checkpoints
    )
    full_state = _is_full_state(plan)
    blocking = [change for change in changes if _blocks(change, same_run, full_state)]
    return [*_report_config_drift(blocking, prior), _judge_allowed(changes, blocking, prior)]


def _is_full_state(plan: Plan) -> bool:
    start = plan.start.value
    return start is not None and start.kind == "full-state"


def _blocks(change: ConfigChange, same_run: bool, full_state: bool) -> bool:
    if change.kind is KeyClass.RESUME_BREAKING:
        return full_state or same_run
    return change.steers and same_run


def _report_config_drift(blocking: list[ConfigChange], prior: PriorLaunch) -> Iterable[Verdict]:
    for change in blocking[:MAX_VERDICTS]:
        yield failed(str(change), f"before: as {prior.instance} was admitted", subject=change.key)
    further = blocking[MAX_VERDICTS:]
    if further:
        texts = [str(change) for change in further]
        yield failed(
            f"{len(further)} other keys differ: {few(texts)}", *texts, subject="further keys"
        )


def _judge_allowed(
    changes: tuple[ConfigChange, ...], blocking: list[ConfigChange], prior: PriorLaunch
) -> Verdict:
    """The verdict on differences that do not block."""
    allowed_changes = [str(change) for change in changes if change not in blocking]
    if not allowed_changes:
        other = "nothing else differs from" if blocking else "no difference from"
        return passed(f"{other} {prior.instance}", subject=prior.instance)
    return passed(
        f"allowed differences from {prior.instance}: {few(allowed_changes)}",
        *allowed_changes,
        subject=prior.instance,
    )
