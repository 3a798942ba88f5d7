"""A hero run does not say which checkpoints it keeps.

Why: rollback depth must be chosen before it is needed; a pruned checkpoint is gone.
Fix: set permanent_every (steps), temporary_every (time) and keep in `[checkpoints]`; or set
`hero = false` for an ordinary run.
Source: marin-community/marin, manage-hero-run: permanent about every 1e5 steps, temporary every 15
minutes, the previous 10 kept.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.contract import Contract
from herorun.core.durations import format_duration
from herorun.core.finding import Verdict, count, failed, not_applicable, passed

RETENTION_KEYS = ("permanent_every", "temporary_every", "keep")
SUGGESTED_RETENTION = 'permanent_every = 100000, temporary_every = "15m", keep = 10'


@check(Gate.LAUNCH, Response.BLOCK)
def undecided_retention(contract: Contract) -> Verdict:
    policy = contract.checkpoints
    missing = [name for name in RETENTION_KEYS if getattr(policy, name) is None]
    if missing and contract.is_hero:
        size = f" of {contract.model_flops:g} FLOPs" if contract.model_flops else ""
        message = (
            f"a hero run{size} must state {', '.join(missing)} in [checkpoints]; for example "
            f"{SUGGESTED_RETENTION}"
        )
        return failed(message, subject="[checkpoints]")
    if missing:
        return not_applicable(
            "an ordinary run: the newest temporary checkpoints and the final one are kept"
        )
    every = format_duration(policy.temporary_every) if policy.temporary_every else ""
    return passed(
        f"permanent every {count(policy.permanent_every or 0, 'step')}, temporary every {every}, "
        f"keep {policy.keep}"
    )
