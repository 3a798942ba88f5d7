"""Alerts that are over or that a relaunch closed, so that they are not reported twice. Pure.

A file of rows that was cut is read again from its start, and a relaunch reads the same checkpoints
again: alerts that this raises again are not reported again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from herorun.core.babysit.alert import Alert, AlertId, AlertState
from herorun.core.check import Check, Severity, Topic
from herorun.core.finding import Finding, Outcome, passed

MAX_PAST_ALERTS = 256  # alerts, the newest
_OF_STRETCHES = (Topic.METRIC, Topic.LINEAGE)  # their findings are identified by steps


def remember(past: tuple[Alert, ...], alerts: Iterable[Alert]) -> tuple[Alert, ...]:
    """`past` with the reported ones of these alerts: the newest for each check and subject."""
    by_id = {alert.id: alert for alert in alerts if alert.state is not AlertState.PENDING}
    others = (alert for alert in past if alert.id not in by_id)
    return (*others, *by_id.values())[-MAX_PAST_ALERTS:]


def without_old_news(
    findings: Iterable[Finding],
    past: Iterable[Alert],
    checks: Mapping[str, Check],
    open_now: Iterable[AlertId],
    instance: str,
) -> list[Finding]:
    """The findings, in which stretches that were already reported to their end pass. Their steps
    identify them, so each is reported once.
    """
    still = set(open_now)
    past_by_id = {
        alert.id: alert
        for alert in past
        if alert.state is AlertState.RESOLVED and alert.id not in still
    }
    if not past_by_id:
        return list(findings)
    return [
        _as_passed(finding) if _is_old(finding, past_by_id, checks, instance) else finding
        for finding in findings
    ]


def _as_passed(finding: Finding) -> Finding:
    verdict = finding.verdict
    return replace(
        finding, verdict=passed(f"reported before: {verdict.message}", subject=verdict.subject)
    )


def _is_old(
    finding: Finding,
    past_by_id: Mapping[AlertId, Alert],
    checks: Mapping[str, Check],
    instance: str,
) -> bool:
    """Whether a stretch was reported. A file may have been cut within the stretch, so for one
    instance a part of a reported stretch is also old.
    """
    alert = past_by_id.get((finding.check, finding.verdict.subject))
    if alert is None or finding.verdict.outcome is not Outcome.FAIL:
        return False
    if checks[finding.check].topic not in _OF_STRETCHES:
        return False
    return alert.message == finding.verdict.message or (
        alert.instance == instance and _is_within(finding.verdict.steps, alert.steps)
    )


def _is_within(steps: tuple[int, int] | None, outer: tuple[int, int] | None) -> bool:
    return bool(steps and outer and outer[0] <= steps[0] and steps[1] <= outer[1])


def carried_over(
    alerts: Mapping[AlertId, Alert],
    findings: Iterable[Finding],
    past: Iterable[Alert],
    still_firing: Iterable[Alert],
    checks: Mapping[str, Check],
) -> dict[AlertId, Alert]:
    """The alerts, with warnings that a relaunch closed and that now have the same message: they
    continue under their old key.

    Those that the relaunch left firing (`still_firing`, until the first tick after it) may differ
    in their message, because a count in it may have changed. Critical alerts are reported for each
    instance, except those about a disk or the monitor, which belong to none.
    """
    closed_alerts, still_failing = (
        {alert.id: alert for alert in past if alert.firing},
        {alert.id for alert in still_firing},
    )
    alerts_after = dict(alerts)
    for finding in findings:
        key = (finding.check, finding.verdict.subject)
        alert = closed_alerts.get(key)
        if alert is None or key in alerts or finding.verdict.outcome is not Outcome.FAIL:
            continue
        check, stands = checks[finding.check], key in still_failing
        same = stands or alert.message == finding.verdict.message
        if same and (
            check.severity is not Severity.CRITICAL or (stands and check.topic is Topic.MONITOR)
        ):
            alerts_after[key] = alert
    return alerts_after
