"""When a person is asked, asked again, and when a second one is."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.babysit.actions import Action, Escalate, Tell
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.babysit.inhibition import inhibitors
from herorun.core.check import Check, Response, Severity, Topic
from herorun.core.durations import format_span
from herorun.core.lazy_dataclass import dataclass
from herorun.core.notify.escalation import Option
from herorun.core.recovery.backoff import back_off, backs_off, wait_until
from herorun.core.recovery.classify import Ending
from herorun.core.recovery.decision import (
    RelaunchObjection,
    relaunch_objection,
)
from herorun.core.recovery.policy import Ledger, RecoveryPolicy


@dataclass(frozen=True)
class Case:
    """What this tick saw of the job itself. Nothing is done to one that it could not see."""

    live: bool = False
    ending: Ending | None = None


@dataclass(frozen=True)
class EscalationContext:
    """What a decision about alerts depends on besides them."""

    checks: Mapping[str, Check]
    policy: RecoveryPolicy
    ledger: Ledger
    case: Case
    now: datetime

    def objection(self, alerts: Sequence[Alert]) -> RelaunchObjection | None:
        """Why the ended instance is not relaunched by itself."""
        ending = self.case.ending
        return relaunch_objection(alerts, self.checks, self.policy, self.ledger, ending, self.now)

    def trains_on(self, alert: Alert) -> str:
        """What a job costs that nothing stops although its numbers went wrong; empty for every
        other alert.
        """
        numbers = self.checks[alert.check].about_numbers
        if not self.case.live or not numbers or alert.check in self.policy.stop_on:
            return ""
        return (
            f". The job continues: [babysit] stop_on does not name {alert.check}. "
            f"{self.policy.hourly_cost}"
        )


UNACKNOWLEDGED_SUFFIX = "unacknowledged"  # how the key of the page to a second person ends
AGAIN = {Severity.CRITICAL: timedelta(hours=4), Severity.WARN: timedelta(hours=24)}


def sticky(alert: Alert) -> str:
    """The key of an incident's own comment, which is kept up to date in its place."""
    return write_key(Verb.TELL, alert.key, "firing")


def without_inhibited(
    alerts: Iterable[Alert], checks: Mapping[str, Check], ledger: Ledger
) -> list[Alert]:
    """Those that people get messages about: not one whose fact another firing alert reports, nor
    the end of one that was not reported for that reason.
    """
    all_alerts = list(alerts)
    inhibited_by = inhibitors(all_alerts, checks)
    tried_keys = {*ledger.done, *ledger.unfinished, *ledger.failed}

    def ends_unheard(alert: Alert) -> bool:
        check = checks.get(alert.check)
        over = alert.state in (AlertState.RESOLVED, AlertState.ENDED)
        return over and bool(check and check.inhibited_by) and sticky(alert) not in tried_keys

    return [a for a in all_alerts if a.id not in inhibited_by and not ends_unheard(a)]


def escalations(alerts: Sequence[Alert], situation: EscalationContext) -> list[Action]:
    """A check that would stop a job asks instead, unless the contract names it."""
    to_escalate = [
        name
        for name, check in situation.checks.items()
        if check.response is Response.ESCALATE
        or (check.response is Response.STOP and name not in situation.policy.stop_on)
    ]
    return [
        _ask_about_alert(
            write_key(Verb.ESCALATE, alert.key),
            alert_title(alert),
            f"{alert.message}{situation.trains_on(alert)}",
            alert,
            situation,
        )
        for alert in alerts
        if alert.firing and alert.check in to_escalate
    ]


def _ask_about_alert(
    key: str,
    title: str,
    why: str,
    alert: Alert,
    situation: EscalationContext,
    *,
    objection: RelaunchObjection | None = None,
    edits: str = "",
) -> Escalate:
    """About an alert: acknowledge it, or change the job. A job that was not seen to end may still
    run.

    Numbers that went wrong are no fault of the hardware's, so starting again from the newest
    checkpoint is not offered: the run goes back, or on as another one.
    """
    check, case = situation.checks[alert.check], situation.case
    if check.response is Response.RELAUNCH:
        reason, ways = (
            (objection.reason, objection.ways) if objection else (check.reason, (Option.RELAUNCH,))
        )
    elif case.live or case.ending is None:
        again = (
            (Option.STOP_AND_ROLLBACK, Option.FORK)
            if check.about_numbers
            else (Option.STOP_AND_RELAUNCH,)
        )
        reason, ways = check.reason, (Option.STOP, *again)
    else:
        reason, ways = (
            check.reason,
            (Option.ROLLBACK, Option.FORK) if check.about_numbers else (Option.RELAUNCH,),
        )
    return Escalate(
        key=key,
        title=title,
        why=why,
        edits=edits,
        reason=reason,
        ways=(Option.ACK, *ways),
        about=alert.name,
        before=alert.steps and alert.steps[0],
    )


def reminders(
    alerts: Sequence[Alert], situation: EscalationContext, quiet_topics: frozenset[Topic]
) -> list[Action]:
    """An alert without recovery is repeated, until a person takes note, a relaunch or a seal."""
    actions: list[Action] = []
    for alert in alerts:
        check = situation.checks[alert.check]
        every = AGAIN.get(check.severity)
        if every is None or not _awaits_person(alert, situation):
            continue
        times = (situation.now - alert.since) // every
        if times >= 1 and check.topic not in quiet_topics:
            objection = situation.objection(alerts)
            key = write_key(Verb.AGAIN, alert.key, times)
            title = f"{alert_title(alert)} still fires after {format_span(times * every)}"
            why = f"{with_cause(alert, check, objection)}{situation.trains_on(alert)}"
            actions.append(
                _ask_about_alert(
                    key, title, why, alert, situation, objection=objection, edits=sticky(alert)
                )
                if check.severity is Severity.CRITICAL
                else Tell(key, title, why, sticky(alert), False)
            )
    return actions


def _awaits_person(alert: Alert, situation: EscalationContext) -> bool:
    """Whether it fires, and nobody has acknowledged it or denied its relaunch."""
    ledger, check = situation.ledger, situation.checks[alert.check]
    return alert.firing and alert.key not in ledger.acked and not is_denied(check, ledger)


def pages_to_secondary(alerts: Sequence[Alert], situation: EscalationContext) -> list[Action]:
    """What a person was asked and did not acknowledge in time, once for each incident."""
    actions: list[Action] = []
    after = situation.policy.second_after
    for alert in alerts if after is not None else ():
        check = situation.checks[alert.check]
        if check.severity is not Severity.CRITICAL or not _awaits_person(alert, situation):
            continue
        objection = situation.objection(alerts)
        if check.response is Response.RELAUNCH and objection is None:
            continue
        if after is not None and situation.now - alert.since >= after:
            key = write_key(Verb.AGAIN, alert.key, UNACKNOWLEDGED_SUFFIX)
            title = f"not acknowledged for {format_span(after)}: {alert_title(alert)}"
            why = f"{with_cause(alert, check, objection)}{situation.trains_on(alert)}"
            actions.append(
                _ask_about_alert(
                    key, title, why, alert, situation, objection=objection, edits=sticky(alert)
                )
            )
    return actions


def all_answered(alerts: Iterable[Alert], checks: Mapping[str, Check], ledger: Ledger) -> bool:
    """Whether a person has acknowledged everything critical that was reported and fires, or has
    denied a relaunch.
    """
    return all(
        alert.key in ledger.acked or is_denied(checks[alert.check], ledger)
        for alert in without_inhibited(alerts, checks, ledger)
        if alert.firing and checks[alert.check].severity is Severity.CRITICAL
    )


def waiting_until(alerts: Sequence[Alert], situation: EscalationContext) -> datetime | None:
    """When a relaunch that backs off is due, after the end or after an attempt that failed; None if
    none waits, or something else prevents it.
    """
    checks, policy, ledger = situation.checks, situation.policy, situation.ledger
    case, now = situation.case, situation.now
    calls = [a.since for a in alerts if a.firing and checks[a.check].response is Response.RELAUNCH]
    is_denied_now = ledger.answer is not None and not ledger.answer.yes
    if case.live or not calls or ledger.instance in ledger.stopped or is_denied_now:
        return None
    if situation.objection(alerts):
        return None
    due = wait_until(min(calls), ledger, case.ending, now)
    tries = ledger.failed.get(write_key(Verb.RELAUNCH, ledger.instance))
    if tries is None or tries.interrupted or not backs_off(tries, policy.cadence, now):
        return due
    again = tries.last + back_off(tries.count, policy.cadence)
    return max(due, again) if due else again


def is_denied(check: Check, ledger: Ledger) -> bool:
    """A person has decided that this instance is not relaunched."""
    answer = ledger.answer
    return check.response is Response.RELAUNCH and answer is not None and not answer.yes


def with_cause(alert: Alert, check: Check, objection: RelaunchObjection | None) -> str:
    if check.response is not Response.RELAUNCH or objection is None:
        return alert.message
    return f"{alert.message}. {objection.why}"


def trouble_began(alerts: Iterable[Alert], checks: Mapping[str, Check]) -> int | None:
    """The first bad step in the data of what fires about the numbers; None where none names one."""
    numeric = (a for a in alerts if a.firing and a.steps and checks[a.check].about_numbers)
    return min((alert.steps[0] for alert in numeric if alert.steps), default=None)


def alert_title(alert: Alert) -> str:
    return f"{alert.check} [{alert.subject}]" if alert.subject else alert.check


def reasons(alerts: Sequence[Alert]) -> str:
    return "; ".join(dict.fromkeys(alert.message for alert in alerts))
