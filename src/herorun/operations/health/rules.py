"""What the babysitter of a run judges by, and where what its ticks saw is kept."""

from datetime import datetime, timedelta
from pathlib import Path

from herorun import __version__
from herorun.core.canonical_json import digest
from herorun.core.recovery.policy import RecoveryPolicy
from herorun.core.tick import Rules
from herorun.runs import MonitoredRun


def rules_of(run: MonitoredRun) -> Rules:
    told = run.contract.babysit
    policy = RecoveryPolicy(
        told.recovery,
        told.budgets.relaunches,
        told.budgets.window,
        told.cadence,
        told.budgets.infra,
        told.budgets.unknown,
        told.budgets.code_bug,
        told.budgets.oom,
        told.stop_on,
        run.contract.budget.accelerator_hours,
        run.contract.hardware.count,
        told.tpu_bad_node == "delete",
        told.tpu_zone or "",
        run.contract.tracker.resume != "never",
        run.contract.checkpoints.milestones,
        run.contract.budget.rate,
        timedelta() if run.contract.logbook.quiet == "each" else timedelta(hours=1),
    )
    return Rules(run.health_checks, policy, run.waivers, run.limits)


def rules_digest(rules: Rules) -> str:
    """Names what a tick was judged by: version, checks with their thresholds, policy and waivers."""
    return digest([__version__, rules.thresholds, rules.policy, list(rules.waivers)])


def evidence_file(run: MonitoredRun, at: datetime) -> Path:
    """One line for each tick of that day."""
    return run.state / "evidence" / f"{at:%Y%m%d}.jsonl"
