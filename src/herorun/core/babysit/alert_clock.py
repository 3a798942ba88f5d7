"""The alert clock: a problem is pending, then firing, then resolved; or it ends unresolved.

Unreadable evidence neither starts nor ends an alert, and the end of a job resolves none. The hold
time accrues only between consecutive FAILs, at most two cadences for each gap; UNKNOWN neither adds
nor resets; a gap over three cadences restarts it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, timedelta

from herorun.core.babysit.alert import Alert, AlertId, AlertState, EngineMeasures
from herorun.core.babysit.ended_alerts import (
    as_answered,
    as_not_judged,
    as_passed,
    is_answered,
    shows_the_end,
)
from herorun.core.babysit.inhibition import Steps, is_muted
from herorun.core.check import Check, Topic
from herorun.core.finding import Finding, Outcome, Verdict, Waiver


def advance(
    alerts: Mapping[AlertId, Alert],
    findings: Iterable[Finding],
    checks: Mapping[str, Check],
    moment: EngineMeasures,
    quiet_topics: frozenset[Topic] = frozenset(),
    numeric: Sequence[Steps] = (),
) -> dict[AlertId, Alert]:
    """The alerts after one more tick, including those that resolved at it, as `resolved`. `numeric`
    are the stretches with non-finite or zero values, which mute the checks of the curve's shape.

    Only a verdict resolves an alert: one that its check no longer judges continues to fire, and
    states since when. A waived alert resolves, and names who signed; when the waiver expires, the
    problem fires again.
    """
    before = {key: alert for key, alert in alerts.items() if alert.state is not AlertState.RESOLVED}
    after: dict[AlertId, Alert] = {}
    blind_checks: set[str] = set()
    waiver_messages: dict[AlertId, str] = {}
    answers: dict[str, list[Verdict]] = {}
    for finding in findings:
        check, verdict = checks[finding.check], finding.verdict
        answers.setdefault(check.name, []).append(verdict)
        key = (check.name, verdict.subject)
        if finding.waiver is not None and verdict.outcome is Outcome.FAIL:
            waiver_messages[key] = _waiver_message(finding.waiver)
        silent = finding.open and is_muted(check.topic, verdict.steps, quiet_topics, numeric)
        if verdict.outcome is Outcome.UNKNOWN or silent:
            blind_checks.add(check.name)  # a muted check may still report that its problem is over
        elif verdict.outcome is Outcome.FAIL and finding.open:
            after[key] = _update_alert(before.get(key), check, finding, moment)
    for key, alert in before.items():
        if key in after:
            continue
        if alert.check in blind_checks and key not in waiver_messages:
            after[key] = alert
        elif alert.firing:
            verdicts = answers.get(alert.check, ())
            after[key] = _without_failure(alert, waiver_messages.get(key, ""), verdicts, moment)
    return dict(sorted(after.items()))


def _waiver_message(waiver: Waiver) -> str:
    until = f"{waiver.expires.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return f"waived by {waiver.approved_by} until {until}: {waiver.reason}"


def _without_failure(
    alert: Alert, waiver_message: str, verdicts: Sequence[Verdict], moment: EngineMeasures
) -> Alert:
    """What becomes of a firing alert whose check could be asked and did not fail openly."""
    if waiver_message:
        return replace(alert, state=AlertState.RESOLVED, message=waiver_message)
    if not shows_the_end(alert, verdicts, moment):
        return as_not_judged(alert, verdicts)
    is_ended = is_answered(alert, moment)
    message = as_answered(alert, moment) if is_ended else as_passed(alert, verdicts)
    return replace(alert, state=AlertState.RESOLVED, message=message)


def _update_alert(
    before: Alert | None, check: Check, finding: Finding, moment: EngineMeasures
) -> Alert:
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
            # with rare ticks too, each counts
            ticks=before.ticks + 1 if before else 1,
        )
    else:
        began = replace(
            before,
            seen=moment.now,
            message=finding.verdict.message,
            held=before.held + min(gap, 2 * moment.cadence),
            ticks=before.ticks + 1,
            not_judged="",
        )
    began = _widen_steps(began, finding.verdict)
    return replace(began, state=AlertState.FIRING) if _has_held(began, check, moment) else began


def _widen_steps(alert: Alert, verdict: Verdict) -> Alert:
    """The alert with the steps of the verdict; the range only widens during one incident."""
    steps = [each for each in (alert.steps, verdict.steps) if each]
    taints = [step for step in (alert.taints_from, verdict.taints_from) if step is not None]
    return replace(
        alert,
        steps=(min(first for first, _ in steps), max(last for _, last in steps)) if steps else None,
        taints_from=min(taints, default=None),
    )


def _has_held(alert: Alert, check: Check, moment: EngineMeasures) -> bool:
    hold = check.hold
    steps = max(
        (moment.step or 0) - alert.first_step, 0
    )  # negative if the step is unknown or was rolled back
    return alert.firing or (
        alert.held >= hold.duration and alert.ticks >= hold.ticks and steps >= hold.steps
    )
