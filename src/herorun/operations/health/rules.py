"""The rules that a run's babysitter applies, and where it stores the evidence of its ticks."""

from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from herorun import __version__
from herorun.core.babysit.tick import Rules
from herorun.core.canonical_json import canonical, digest_of
from herorun.core.check import Check
from herorun.core.recovery.policy import RecoveryPolicy
from herorun.runs import MonitoredRun


def rules_of(run: MonitoredRun) -> Rules:
    babysit, notify = run.contract.babysit, run.contract.notify
    policy = RecoveryPolicy(
        recovery=babysit.recovery,
        relaunches=babysit.budgets.relaunches,
        window=babysit.budgets.window,
        cadence=babysit.cadence,
        infra=babysit.budgets.infra,
        unknown=babysit.budgets.unknown,
        code_bug=babysit.budgets.code_bug,
        oom=babysit.budgets.oom,
        stop_on=babysit.stop_on,
        accelerator_hours=run.contract.budget.accelerator_hours,
        accelerators=run.contract.hardware.count,
        delete_bad_node=babysit.tpu_bad_node == "delete",
        zone=babysit.tpu_zone or "",
        resumable=run.contract.tracker.resume != "never",
        milestones=run.contract.checkpoints.milestones,
        rate=run.contract.budget.rate,
        quiet_every=timedelta()
        if run.contract.logbook.quiet_ticks == "each"
        else timedelta(hours=1),
        second_after=notify.secondary_after if notify.secondary else None,
    )
    return Rules(run.health_checks, policy, run.waivers, run.limits)


def rules_digest(rules: Rules) -> str:
    """The digest of all rules of a tick: version, checks with their thresholds, policy and
    waivers.
    """
    rows = [
        canonical([*_as_declared(check), limits])
        if (limits := rules.limits.get(name))
        else _row(check)
        for name, check in rules.by_name.items()
    ]
    # the canonical JSON of a list of the four; the checks' rows are encoded once per process
    policy, waivers = canonical(rules.policy), canonical(list(rules.waivers))
    return digest_of(f"[{canonical(__version__)},[{','.join(rows)}],{policy},{waivers}]")


def _as_declared(check: Check) -> tuple[Any, ...]:
    return check.name, check.response, check.hold


@lru_cache(maxsize=1024)
def _row(check: Check) -> str:
    """The row of a check with its default limits, cached because each tick needs all of them."""
    return canonical([*_as_declared(check), check.declared_limits])


def evidence_file(run: MonitoredRun, at: datetime) -> Path:
    """One line for each tick of that day."""
    return run.state / "evidence" / f"{at:%Y%m%d}.jsonl"
