"""The trainer is configured to save other checkpoints than the contract promises.

Why: rollback depth, retention and late-checkpoint alerts follow the contract; a trainer that saves
every 5000 steps instead of every 100 loses hours at the first crash.
Fix: make the trainer's key and `[checkpoints]` agree; or let the DRI waive it, with the contract's
key as its subject.
"""

from datetime import timedelta

from herorun.core.check import Gate, Response, check
from herorun.core.config.checkpoint_keys import (
    KEEP,
    OFF,
    PERMANENT,
    TEMPORARY,
    SaveSetting,
    savings,
)
from herorun.core.contract import Contract
from herorun.core.durations import format_duration
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.plan import Plan

UNITS = {PERMANENT: "steps", KEEP: "checkpoints"}
NONE = {PERMANENT: "keeps no permanent checkpoint", KEEP: "keeps none"}


@check(Gate.LAUNCH, Response.BLOCK)
def checkpoint_policy_mismatch(contract: Contract, plan: Plan) -> list[Verdict]:
    """One verdict for each key of the contract that the trainer's config or command line also
    sets.
    """
    policy = contract.checkpoints
    stated_keys = {
        PERMANENT: policy.permanent_every,
        TEMPORARY: policy.temporary_every,
        KEEP: policy.keep,
    }
    promises = {name: value for name, value in stated_keys.items() if value is not None}
    if not promises:
        return [not_applicable("[checkpoints] states nothing to compare")]
    settings = savings(plan.config.value, plan.command_line, plan.final_step.value)
    if OFF in settings:
        message = (
            f"the trainer saves no checkpoint ({settings[OFF].key}), and [checkpoints] promises "
            f"{', '.join(promises)}"
        )
        return [failed(message, subject="checkpoints")]
    both = [
        _compare_setting(name, value, settings[name])
        for name, value in promises.items()
        if name in settings
    ]
    return both or [
        not_applicable("neither the config nor the command line names how often the trainer saves")
    ]


def _compare_setting(name: str, promise: int | timedelta, saving: SaveSetting) -> Verdict:
    subject = f"checkpoints.{name}"
    if saving.value == promise:
        return passed(
            f"{name} is {_describe_policy(name, promise)} in {saving.key} too", subject=subject
        )
    theirs = (
        NONE[name]
        if saving.value is None
        else f"is configured to {_describe_policy(name, saving.value)}"
    )
    message = (
        f"[checkpoints] {name} is {_describe_policy(name, promise)}, but the trainer "
        f"{theirs} ({saving.key})"
    )
    return failed(message, subject=subject)


def _describe_policy(name: str, value: int | timedelta) -> str:
    return format_duration(value) if isinstance(value, timedelta) else f"{value} {UNITS[name]}"
