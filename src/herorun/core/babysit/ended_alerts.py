"""How an alert ends: by evidence that its condition is gone, or unresolved."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC

from herorun.core.babysit.alert import Alert, AlertId, AlertState, EngineMeasures
from herorun.core.check import Check, Topic
from herorun.core.finding import Finding, Outcome, Verdict

IN_PROGRESS = "still in progress"  # the phrase of the checks' messages for an open problem
PATIENCE = 3  # cadences for which an alert keeps firing while its check does not judge it

_QUEUE = ("pending-too-long", "stuck-pending")  # about the wait of one instance
# Checks that report how an instance ended, or that it did not start. The next launch resolves their
# alerts.
ANSWERED_BY_A_LAUNCH = frozenset(
    {
        "crashed",
        "ended-short",
        "failed-when-done",
        "missing-artefacts",
        "pending-too-long",
        "stuck-pending",
        "refused-at-check-in",
        "repeated-crash",
        "stopped-by-hand",
        "stopped-short",
        "unfinished-action",
    }
)


# --- answers of a tick ---------------------------------------------------------------------------


def shows_the_end(alert: Alert, answers: Sequence[Verdict], moment: EngineMeasures) -> bool:
    """Whether the check shows that the condition is gone: it passes this subject or all subjects,
    or it lists all failures and this subject is not among them. For alerts about a job's end, a new
    live job is enough.
    """
    if moment.live and alert.check in ANSWERED_BY_A_LAUNCH:
        return True
    passes = [each.subject for each in answers if each.outcome is Outcome.PASS]
    if passes:
        return not alert.subject or alert.subject in passes or "" in passes
    return any(each.outcome is Outcome.FAIL for each in answers)


def is_answered(alert: Alert, moment: EngineMeasures) -> bool:
    """Whether a live instance resolves the alert. A launch does not settle an action's outcome, nor
    the waiting of the same instance.
    """
    if not moment.live or alert.check not in ANSWERED_BY_A_LAUNCH:
        return False
    is_next = moment.instance not in ("", alert.instance)
    return alert.check != "unfinished-action" and (alert.check not in _QUEUE or is_next)


def as_answered(alert: Alert, moment: EngineMeasures) -> str:
    """The message of an alert that a launch resolves, stating that it was about the previous
    instance.
    """
    is_next = alert.instance and moment.instance not in ("", alert.instance)
    evidence = f"{moment.instance} is the newest instance" if is_next else "its job is live"
    return _was_and_is(alert.message, evidence)


def as_passed(alert: Alert, answers: Sequence[Verdict]) -> str:
    """The message of an alert that its check resolves, with what the check says now."""
    passes = {each.subject: each.message for each in answers if each.outcome is Outcome.PASS}
    evidence = passes.get(alert.subject) or passes.get("") or "its check no longer reports it"
    return _was_and_is(alert.message, evidence)


def _was_and_is(message: str, evidence: str) -> str:
    """A resolved problem in the words of its alert, which may be in the present tense."""
    return f"was: {message.replace(f', {IN_PROGRESS}', '')}; now: {evidence}"


def as_not_judged(alert: Alert, answers: Sequence[Verdict]) -> Alert:
    """The alert as last seen, still firing, with the reason why it is not judged."""
    if alert.not_judged:
        return alert
    reason = next(
        (each.message for each in answers if each.message), "its check no longer mentions it"
    )
    return _with_reason(alert, reason)


def _with_reason(alert: Alert, reason: str) -> Alert:
    since = f"{alert.seen.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    message = f"{alert.message}; not judged since {since}: {reason}"
    return replace(alert, message=message, not_judged=reason)


def no_longer_judged(
    alerts: Mapping[AlertId, Alert], findings: Iterable[Finding], moment: EngineMeasures
) -> tuple[dict[AlertId, Alert], tuple[Alert, ...]]:
    """The alerts that continue, and those that end because no check has judged them for too long.
    Unreadable evidence ends none.
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
        replace(_with_reason(alert, "its check no longer runs"), state=AlertState.ENDED)
        for key, alert in alerts.items()
        if key not in still and alert.firing
    )
    return still, tuple(ended_alerts)


# --- the end of a job ----------------------------------------------------------------------------


def ended_unresolved(
    alerts: Mapping[AlertId, Alert], findings: Iterable[Finding], checks: Mapping[str, Check]
) -> tuple[dict[AlertId, Alert], tuple[Alert, ...]]:
    """After a job's end: the alerts that continue, and firing ones that end because no evidence can
    show any more whether they are over.

    Alerts whose check still fails continue to fire, and so do alerts about the monitor, which are
    not about a job.
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
    """The alert as unresolved at its instance's end, and no longer in progress."""
    if alert.not_judged:  # the message already says when it was last judged
        return replace(alert, state=AlertState.ENDED)
    end = f"{IN_PROGRESS} when {alert.instance or 'its instance'} ended"
    return replace(alert, state=AlertState.ENDED, message=_no_longer(alert.message, end))


def as_over(message: str) -> str:
    """The message of a resolved problem; the check may not know when it ended."""
    return _no_longer(message, "this has ended")


def as_at_last_row(message: str) -> str:
    """The message of a problem that a recorded curve shows up to its end."""
    return _no_longer(message, f"{IN_PROGRESS} at the last row")


def _no_longer(message: str, end: str) -> str:
    """The message without "still in progress"; `end` states how the end is known."""
    claim = f", {IN_PROGRESS}"
    return f"{message.replace(claim, '')}; {end}" if claim in message else message


def resolved_late(
    ended_alerts: Iterable[Alert], findings: Iterable[Finding]
) -> dict[AlertId, Alert]:
    """Alerts about an instance that ended unresolved and that late evidence resolves, such as a
    receipt from a slow store.
    """
    passes = {
        (f.check, f.verdict.subject): f.verdict
        for f in findings
        if f.verdict.outcome is Outcome.PASS
    }
    cleared_alerts = (
        alert for alert in ended_alerts if alert.id in passes and alert.subject == alert.instance
    )
    return {
        alert.id: replace(
            alert, state=AlertState.RESOLVED, message=as_passed(alert, (passes[alert.id],))
        )
        for alert in cleared_alerts
    }


def left_behind(alerts: Iterable[Alert], checks: Mapping[str, Check]) -> tuple[Alert, ...]:
    """Alerts that fired when the next instance was launched: verdicts about that instance do not
    resolve them.
    """
    return tuple(
        as_ended(alert)
        for alert in alerts
        if alert.check in checks
        and checks[alert.check].topic is not Topic.MONITOR
        and alert.check not in ANSWERED_BY_A_LAUNCH
    )


def _answers(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """The findings of each check about the ended job, without checks that apply only to running
    jobs.
    """
    answers: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.verdict.outcome is not Outcome.NOT_APPLICABLE:
            answers.setdefault(finding.check, []).append(finding)
    return answers


def _is_answered(alert: Alert, answers: Iterable[Finding]) -> bool:
    """Whether the check was evaluated for the alert: it failed, was unknown, or passed."""
    return any(
        f.verdict.outcome is Outcome.UNKNOWN or f.verdict.subject in (alert.subject, "")
        for f in answers
    )
