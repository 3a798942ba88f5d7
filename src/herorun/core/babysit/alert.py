"""The alert clock: a problem is pending, then firing, then resolved; or its instance ends, and it
is ended unresolved.

What could not be seen neither starts nor ends an alert, and the end of a job resolves none. Hold
accrues only between consecutive observed FAILs, at most two cadences a gap; UNKNOWN neither adds
nor resets; a gap over three cadences starts it again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TypeAlias

from herorun.core.babysit.muting import Steps, is_muted
from herorun.core.canonical_json import timestamp
from herorun.core.check import Check, Topic
from herorun.core.decode import CheckName
from herorun.core.finding import Finding, Outcome, Verdict
from herorun.core.lazy_dataclass import dataclass

AlertId: TypeAlias = tuple[str, str]  # check, subject

# These tell how an instance ended, or that it did not come up. The launch of the next one is what
# they asked for.
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


class AlertState(StrEnum):
    PENDING = "pending"
    FIRING = "firing"
    RESOLVED = "resolved"  # evidence showed that the condition is gone
    ENDED = "ended-unresolved"  # its instance ended before anything showed that


@dataclass(frozen=True, kw_only=True)
class Alert:
    check: CheckName
    subject: str
    since: datetime
    seen: datetime  # when evidence last showed it
    state: AlertState
    message: str
    held: timedelta = timedelta()
    ticks: int = 1
    first_step: int = 0
    instance: str = ""
    steps: tuple[int, int] | None = None  # where in the data it happened, as far as it is known
    taints_from: int | None = None  # checkpoints of this step and later ones are not to be trusted

    @property
    def id(self) -> AlertId:
        return self.check, self.subject

    @property
    def key(self) -> str:
        """One incident, one key: it begins again when the alert begins again."""
        subject = f"[{self.subject}]" if self.subject else ""
        return f"{self.check}{subject}@{timestamp(self.since)}"

    @property
    def firing(self) -> bool:
        return self.state is AlertState.FIRING


@dataclass(frozen=True)
class Moment:
    """The engine's own measures at this tick."""

    now: datetime
    cadence: timedelta
    step: int | None = None
    instance: str = ""


def ended_unresolved(
    alerts: Mapping[AlertId, Alert], findings: Iterable[Finding], checks: Mapping[str, Check]
) -> tuple[dict[AlertId, Alert], tuple[Alert, ...]]:
    """Of a job that ended: the alerts that go on, and those that fired and of which nothing shows
    any more that they are over.

    What still fails fires on. An alert about the monitor is about no job.
    """
    answers = _answers(findings)
    still: dict[AlertId, Alert] = {}
    ended: list[Alert] = []
    for key, alert in alerts.items():
        if checks[alert.check].topic is Topic.MONITOR or _is_answered(
            alert, answers.get(alert.check, ())
        ):
            still[key] = alert
        elif alert.firing:
            ended.append(as_ended(alert))
    return still, tuple(ended)


def as_ended(alert: Alert) -> Alert:
    """Unresolved at its instance's end: what went on then goes on no more."""
    message, end = alert.message, f"when {alert.instance or 'its instance'} ended"
    for now, then in (
        (" is not finite since", " was not finite from"),
        ("still is", "still was"),
        ("still in progress", "was still in progress"),
    ):
        message = message.replace(now, f"{then} {end}" if now.startswith("still") else then)
    return replace(alert, state=AlertState.ENDED, message=message)


def resolved_late(ended: Iterable[Alert], findings: Iterable[Finding]) -> dict[AlertId, Alert]:
    """Of the alerts that ended unresolved, those about an instance itself of which its check now
    sees that the problem is gone: evidence that arrives late, as a receipt from a slow store, is
    evidence.
    """
    passes = {(f.check, f.verdict.subject) for f in findings if f.verdict.outcome is Outcome.PASS}
    cleared_alerts = (
        alert for alert in ended if alert.id in passes and alert.subject == alert.instance
    )
    return {alert.id: replace(alert, state=AlertState.RESOLVED) for alert in cleared_alerts}


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


def advance(
    alerts: Mapping[AlertId, Alert],
    findings: Iterable[Finding],
    checks: Mapping[str, Check],
    moment: Moment,
    muted: frozenset[Topic] = frozenset(),
    numeric: Sequence[Steps] = (),
) -> dict[AlertId, Alert]:
    """Carry the alerts one tick on. The result holds those that resolved at this tick, as
    `resolved`. `numeric` are the stretches without numbers, which mute the curve's shape there.

    A waiver silences: what it signs resolves, and says who signed; once it is over, the problem
    fires again.
    """
    before = {key: alert for key, alert in alerts.items() if alert.state is not AlertState.RESOLVED}
    after: dict[AlertId, Alert] = {}
    blind_checks: set[str] = set()
    silenced: dict[AlertId, str] = {}
    for finding in findings:
        check, verdict = checks[finding.check], finding.verdict
        key = (check.name, verdict.subject)
        if finding.waiver is not None and verdict.outcome is Outcome.FAIL and key in before:
            until = f"{finding.waiver.expires.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
            silenced[key] = (
                f"waived by {finding.waiver.approved_by} until {until}: {finding.waiver.reason}"
            )
        silent = finding.open and is_muted(check.topic, verdict.steps, muted, numeric)
        if verdict.outcome is Outcome.UNKNOWN or silent:
            blind_checks.add(check.name)  # a muted check may still say that its problem is over
        elif verdict.outcome is Outcome.FAIL and finding.open:
            after[key] = _update_alert(before.get(key), check, finding, moment)
    for key, alert in before.items():
        if key in after:
            continue
        if alert.check in blind_checks and key not in silenced:
            after[key] = alert
        elif alert.firing:
            after[key] = replace(
                alert, state=AlertState.RESOLVED, message=silenced.get(key, alert.message)
            )
    return dict(sorted(after.items()))


def _update_alert(before: Alert | None, check: Check, finding: Finding, moment: Moment) -> Alert:
    # the clock may be set back
    gap = max(moment.now - before.seen, timedelta()) if before else timedelta()
    if before is None or (gap > 3 * moment.cadence and not before.firing):
        began = Alert(
            check=check.name,
            subject=finding.verdict.subject,
            since=moment.now,
            seen=moment.now,
            state=AlertState.PENDING,
            message=finding.verdict.message,
            first_step=moment.step or 0,
            instance=moment.instance,
            # who looks rarely still looks one time after another
            ticks=before.ticks + 1 if before else 1,
        )
    else:
        began = replace(
            before,
            seen=moment.now,
            message=finding.verdict.message,
            held=before.held + min(gap, 2 * moment.cadence),
            ticks=before.ticks + 1,
        )
    began = _placed(began, finding.verdict)
    return replace(began, state=AlertState.FIRING) if _has_held(began, check, moment) else began


def _placed(alert: Alert, verdict: Verdict) -> Alert:
    """With the steps that the data names, which only widen while it is the same incident."""
    steps = [each for each in (alert.steps, verdict.steps) if each]
    taints = [step for step in (alert.taints_from, verdict.taints_from) if step is not None]
    return replace(
        alert,
        steps=(min(first for first, _ in steps), max(last for _, last in steps)) if steps else None,
        taints_from=min(taints, default=None),
    )


def _has_held(alert: Alert, check: Check, moment: Moment) -> bool:
    hold = check.hold
    steps = max(
        (moment.step or 0) - alert.first_step, 0
    )  # below zero where the step is unread or rolled back
    return alert.firing or (
        alert.held >= hold.duration and alert.ticks >= hold.ticks and steps >= hold.steps
    )
