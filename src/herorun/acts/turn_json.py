"""The parts of a turn, as `babysit --json` and `status --json` print them."""

from typing import Any

from herorun.acts.perform import Performed
from herorun.core.alert import Alert
from herorun.core.canonical import plain
from herorun.core.evidence import Evidence, OtherJobs
from herorun.core.health.training import Awaited
from herorun.core.scrub import scrub_tree


def other_json(evidence: Evidence) -> list[dict[str, str]]:
    """Live jobs beside the current instance: they are shown, and the run's health is not judged by them."""
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


def alert_json(alert: Alert, severity: str) -> dict[str, Any]:
    return {
        "check": alert.check,
        "severity": severity,
        "subject": alert.subject,
        "state": alert.state.value,
        "since": plain(alert.since),
        "message": alert.message,
    }


def awaited_json(missing: Awaited) -> dict[str, Any]:
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
