"""The parts of a turn, as `babysit --json` and `status --json` print them."""

from collections.abc import Mapping
from typing import Any

from herorun.core.alert import Alert
from herorun.core.canonical_json import plain
from herorun.core.check import Check
from herorun.core.evidence import Evidence, OtherJobs
from herorun.core.health.training import AwaitedEvidence
from herorun.core.journal import Memory
from herorun.core.redaction.scrub import scrub_tree
from herorun.core.tick import Tick
from herorun.operations.babysit.perform import Performed


def other_json(evidence: Evidence) -> list[dict[str, str]]:
    """Live jobs beside the current instance: they are shown, and the run's health is not judged by
    them.
    """
    others = evidence.get(OtherJobs)
    if not isinstance(others, OtherJobs):
        return []
    listed = [
        *(("old attempt", job) for job in others.attempts),
        *(("diagnostic", job) for job in others.diagnostics),
    ]
    told: list[dict[str, str]] = scrub_tree(
        [
            {"name": job.instance, "job": job.id, "state": job.state.value, "kind": kind}
            for kind, job in listed
        ]
    )
    return told


def shown_alerts(seen: Tick, memory: Memory) -> list[Alert]:
    """Those of this look, then those that ended unresolved, at it or before, and that nobody has
    acknowledged.
    """
    now = {alert.key for alert in (*seen.ended, *seen.alerts.values())}
    before = [alert for alert in memory.unacknowledged if alert.key not in now]
    return [*seen.alerts.values(), *before, *(a for a in seen.ended if a.key not in memory.acked)]


def severity_of(alert: Alert, checks: Mapping[str, Check]) -> str:
    """An alert that ended may be of a check that is gone."""
    return checks[alert.check].severity.value if alert.check in checks else "warn"


def alerts_json(seen: Tick, memory: Memory, checks: Mapping[str, Check]) -> list[dict[str, Any]]:
    return [alert_json(a, severity_of(a, checks)) for a in shown_alerts(seen, memory)]


def alert_json(alert: Alert, severity: str) -> dict[str, Any]:
    return {
        "check": alert.check,
        "severity": severity,
        "subject": alert.subject,
        "state": alert.state.value,
        "since": plain(alert.since),
        "message": alert.message,
    }


def awaited_json(missing: AwaitedEvidence) -> dict[str, Any]:
    told: dict[str, Any] = scrub_tree(
        {"evidence": missing.evidence, "message": missing.message, "until": plain(missing.until)}
    )
    return told


def action_json(done: Performed) -> dict[str, Any]:
    kind = type(done.action).__name__.lower()
    return {
        "action": kind,
        "key": done.action.key,
        "why": done.action.why,
        "done": not done.why,
        "failed": done.why,
    }
