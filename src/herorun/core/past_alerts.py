"""What was told before: an alert that is over, or that a relaunch closed. Pure.

A file of rows that was cut is read again from its start, and a relaunch looks at the same checkpoints again: what that
shows once more is no news.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from herorun.core.alert import Alert, AlertId, State
from herorun.core.check import Check, Severity, Topic
from herorun.core.finding import Finding, Outcome, passed

KEPT = 256  # alerts, the newest


def remember(past: tuple[Alert, ...], alerts: Iterable[Alert]) -> tuple[Alert, ...]:
    """With those of these alerts that were told: of each check and subject the newest."""
    told = {alert.id: alert for alert in alerts if alert.state is not State.PENDING}
    others = (alert for alert in past if alert.id not in told)
    return (*others, *told.values())[-KEPT:]


def without_old_news(
    findings: Iterable[Finding],
    past: Iterable[Alert],
    checks: Mapping[str, Check],
    open_now: Iterable[AlertId],
) -> list[Finding]:
    """The stretches of a curve that were told to their end are no failures now: they name their steps, so each comes once."""
    known, still = {alert.id: alert for alert in past}, set(open_now)
    return [_over(finding) if _is_old(finding, known, checks, still) else finding for finding in findings]


def _over(finding: Finding) -> Finding:
    verdict = finding.verdict
    return replace(finding, verdict=passed(f"told before: {verdict.message}", subject=verdict.subject))


def _is_old(
    finding: Finding, known: Mapping[AlertId, Alert], checks: Mapping[str, Check], still: set[AlertId]
) -> bool:
    key = (finding.check, finding.verdict.subject)
    alert = known.get(key)
    return (
        finding.verdict.outcome is Outcome.FAIL
        and checks[finding.check].topic is Topic.METRIC
        and key not in still
        and alert is not None
        and alert.state is State.RESOLVED
        and alert.message == finding.verdict.message
    )


def carried_over(
    alerts: Mapping[AlertId, Alert],
    findings: Iterable[Finding],
    past: Iterable[Alert],
    checks: Mapping[str, Check],
) -> dict[AlertId, Alert]:
    """With the warnings that a relaunch closed and that now say the very same again: they go on under their old key.

    What is critical is told of each instance.
    """
    closed = {alert.id: alert for alert in past if alert.firing}
    carried = dict(alerts)
    for finding in findings:
        key = (finding.check, finding.verdict.subject)
        alert = closed.get(key)
        if alert is None or key in alerts or finding.verdict.outcome is not Outcome.FAIL:
            continue
        if (
            checks[finding.check].severity is not Severity.CRITICAL
            and alert.message == finding.verdict.message
        ):
            carried[key] = alert
    return carried
