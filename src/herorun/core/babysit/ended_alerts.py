"""How an alert ends: by evidence that its condition is gone, or unresolved."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC

from herorun.core.babysit.alert import Alert, AlertId, AlertState, Moment
from herorun.core.check import Check, Topic
from herorun.core.finding import Finding, Outcome, Verdict

IN_PROGRESS = "still in progress"  # in the messages of checks, of an open problem
PATIENCE = 3  # cadences that an alert fires on while its check does not judge it

# These report how an instance ended, or that it did not start. The launch of the next one resolves
# them.
ANSWERED_BY_A_LAUNCH = frozenset(
    {
        "crashed",
        "ended-short",
        "failed-when-done",
        "missing-artefacts",
        "pending-too-long",
        "refused-at-check-in",
        "repeated-crash",
        "stopped-by-hand",
        "stopped-short",
        "unfinished-action",
    }
)


# --- answers of a tick ---------------------------------------------------------------------------


def shows_the_end(alert: Alert, answers: Sequence[Verdict], moment: Moment) -> bool:
    """Whether its check saw that the condition is gone: it passes its subject or all of them, or
    fails others only and is one that lists every failure. A living job answers what was asked of
    the one before it.
    """
    if moment.live and alert.check in ANSWERED_BY_A_LAUNCH:
        return True
    passes = [each.subject for each in answers if each.outcome is Outcome.PASS]
    if passes:
        return not alert.subject or alert.subject in passes or "" in passes
    return any(each.outcome is Outcome.FAIL for each in answers)


def is_answered(alert: Alert, moment: Moment) -> bool:
    """Whether a live instance ends it. No launch settles the outcome of an action, or a wait of the
    instance that waited.
    """
    if not moment.live or alert.check not in ANSWERED_BY_A_LAUNCH:
        return False
    is_next = moment.instance not in ("", alert.instance)
    return alert.check != "unfinished-action" and (alert.check != "pending-too-long" or is_next)


def as_answered(alert: Alert, moment: Moment) -> str:
    """The message of one that a launch answers: what it says is true of the instance before."""
    is_next = alert.instance and moment.instance not in ("", alert.instance)
    evidence = f"{moment.instance} is the newest instance" if is_next else "its job is live"
    return f"{alert.message}; this has ended: {evidence}"


def as_not_judged(alert: Alert, answers: Sequence[Verdict]) -> Alert:
    """It keeps firing as it was last seen, with the reason why it is not judged."""
    if alert.not_judged:
        return alert
    reason = next((each.message for each in answers if each.message), "its check does not name it")
    return _with_reason(alert, reason)


def _with_reason(alert: Alert, reason: str) -> Alert:
    since = f"{alert.seen.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    message = f"{alert.message}; not judged since {since}: {reason}"
    return replace(alert, message=message, not_judged=reason)


def no_longer_judged(
    alerts: Mapping[AlertId, Alert], findings: Iterable[Finding], moment: Moment
) -> tuple[dict[AlertId, Alert], tuple[Alert, ...]]:
    """The alerts that continue, and those that no check has judged for so long that they end. What
    could not be seen now ends none.
    """
    patience = PATIENCE * moment.cadence
    blind_checks = {f.check for f in findings if f.verdict.outcome is Outcome.UNKNOWN}
    ended_alerts = {
        key: replace(alert, state=AlertState.ENDED)
        for key, alert in alerts.items()
        if alert.firing
        and alert.not_judged
        and alert.check not in blind_checks
        and moment.now - alert.seen >= patience
    }
    return {key: alert for key, alert in alerts.items() if key not in ended_alerts}, tuple(
        ended_alerts.values()
    )


def no_longer_asked(
    alerts: Mapping[AlertId, Alert], checks: Mapping[str, Check]
) -> tuple[dict[AlertId, Alert], tuple[Alert, ...]]:
    """The alerts that continue, and those that fired and whose check is no longer evaluated."""
    still = {key: alert for key, alert in alerts.items() if alert.check in checks}
    ended_alerts = (
        replace(_with_reason(alert, "the check is no longer asked"), state=AlertState.ENDED)
        for key, alert in alerts.items()
        if key not in still and alert.firing
    )
    return still, tuple(ended_alerts)


# --- the end of a job ----------------------------------------------------------------------------


def ended_unresolved(
    alerts: Mapping[AlertId, Alert], findings: Iterable[Finding], checks: Mapping[str, Check]
) -> tuple[dict[AlertId, Alert], tuple[Alert, ...]]:
    """Of a job that ended: the alerts that continue, and those that fired and of which nothing
    shows any more that they are over.

    What still fails fires on. An alert about the monitor is about no job.
    """
    answers = _answers(findings)
    still: dict[AlertId, Alert] = {}
    ended_alerts: list[Alert] = []
    for key, alert in alerts.items():
        if checks[alert.check].topic is Topic.MONITOR or _is_answered(
            alert, answers.get(alert.check, ())
        ):
            still[key] = alert
        elif alert.firing:
            ended_alerts.append(as_ended(alert))
    return still, tuple(ended_alerts)


def as_ended(alert: Alert) -> Alert:
    """Unresolved at its instance's end: it is in progress no longer."""
    if alert.not_judged:  # the message says when it was last judged
        return replace(alert, state=AlertState.ENDED)
    end = f"{IN_PROGRESS} when {alert.instance or 'its instance'} ended"
    return replace(alert, state=AlertState.ENDED, message=_no_longer(alert.message, end))


def as_over(message: str) -> str:
    """Of a problem that is gone: its check may not have said when it ended."""
    return _no_longer(message, "this has ended")


def _no_longer(message: str, end: str) -> str:
    """Without the claim that the problem is in progress; `end` says how that is known."""
    claim = f", {IN_PROGRESS}"
    return f"{message.replace(claim, '')}; {end}" if claim in message else message


def resolved_late(
    ended_alerts: Iterable[Alert], findings: Iterable[Finding]
) -> dict[AlertId, Alert]:
    """Of the alerts that ended unresolved, those about an instance itself of which its check now
    sees that the problem is gone: evidence that arrives late, as a receipt from a slow store, is
    evidence.
    """
    passes = {(f.check, f.verdict.subject) for f in findings if f.verdict.outcome is Outcome.PASS}
    cleared_alerts = (
        alert for alert in ended_alerts if alert.id in passes and alert.subject == alert.instance
    )
    return {
        alert.id: replace(alert, state=AlertState.RESOLVED, message=as_over(alert.message))
        for alert in cleared_alerts
    }


def left_behind(alerts: Iterable[Alert], checks: Mapping[str, Check]) -> tuple[Alert, ...]:
    """Those that fired when the next instance was launched: no answer about that one says that they
    are over.
    """
    return tuple(
        as_ended(alert)
        for alert in alerts
        if alert.check in checks
        and checks[alert.check].topic is not Topic.MONITOR
        and alert.check not in ANSWERED_BY_A_LAUNCH
    )


def _answers(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """What each check said of the ended job; those that are asked of running jobs alone said
    nothing.
    """
    answers: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.verdict.outcome is not Outcome.NOT_APPLICABLE:
            answers.setdefault(finding.check, []).append(finding)
    return answers


def _is_answered(alert: Alert, answers: Iterable[Finding]) -> bool:
    """The check looked: it still fails, it could not see, or it saw that the problem is gone."""
    return any(
        f.verdict.outcome is Outcome.UNKNOWN or f.verdict.subject in (alert.subject, "")
        for f in answers
    )
