"""From alerts to actions. Nothing here acts.

Every action has a key, and a key that is done is never acted on again: that is what makes a tick
safe to repeat.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeAlias

from herorun.core.action_key import Verb, write_key
from herorun.core.alert import Alert, AlertId, AlertState
from herorun.core.check import Check, Response, Severity, Topic
from herorun.core.durations import say_span
from herorun.core.escalation import EscalationReason, Option
from herorun.core.lazy_dataclass import dataclass
from herorun.core.recovery.bad_node import steps_in_words
from herorun.core.recovery.classify import BAD_ACCELERATOR, Ending
from herorun.core.recovery.decision import (
    MOST_TRIES,
    Doubt,
    doubt,
    not_relaunched,
    wait_until,
    why_recoverable,
)
from herorun.core.recovery.policy import Ledger, RecoveryPolicy, Tries


@dataclass(frozen=True)
class Tell:
    key: str
    title: str
    why: str
    edits: str = ""  # key of an earlier post, whose comment says from now on what this one says
    anew: bool = True  # a comment of its own as well
    about: str = ""  # the alert that is to be acknowledged


@dataclass(frozen=True, kw_only=True)
class Escalate:
    """Ask a person. The DRI is named."""

    key: str
    title: str
    why: str
    edits: str = ""  # as in `Tell`
    reason: EscalationReason = EscalationReason.JUDGEMENT
    ways: tuple[Option, ...] = (Option.ACK,)
    about: str = ""  # the alert that can be taken note of
    before: int | None = None  # the first step of the trouble, where the data names one


@dataclass(frozen=True)
class Relaunch:
    key: str
    instance: str  # the one that ended
    why: str


@dataclass(frozen=True)
class Stop:
    key: str
    instance: str
    why: str


@dataclass(frozen=True)
class DeleteNode:
    """Delete the virtual machine of a bad accelerator; only where the contract says so."""

    key: str
    instance: str
    why: str
    worker: str  # its address
    zone: str


Action: TypeAlias = Tell | Escalate | Relaunch | Stop | DeleteNode


@dataclass(frozen=True)
class Case:
    """What this tick saw of the job itself. Nothing is done to one that it could not see."""

    live: bool = False
    ending: Ending | None = None


UNANSWERED = "unacknowledged"  # how the key of the page to a second person ends
AGAIN = {Severity.CRITICAL: timedelta(hours=4), Severity.WARN: timedelta(hours=24)}


def decide(
    alerts: Mapping[AlertId, Alert],
    checks: Mapping[str, Check],
    policy: RecoveryPolicy,
    ledger: Ledger,
    now: datetime,
    case: Case | None = None,
    muted: frozenset[Topic] = frozenset(),
) -> list[Action]:
    """What to do about the alerts, in order: news, escalations, reminders, then at most one
    intervention.

    What is `muted` stays open and is not said again meanwhile.
    """
    ordered = [alerts[key] for key in sorted(alerts)]
    case = case or Case()
    wanted = [
        *(tell for alert in ordered for tell in _tell_alert(alert, checks[alert.check])),
        *_escalations(ordered, checks, policy, case),
        *_again(
            alerts=ordered,
            checks=checks,
            policy=policy,
            ledger=ledger,
            case=case,
            now=now,
            muted=muted,
        ),
        *_second_person(ordered, checks, policy, ledger, case, now),
        *_bad_node(policy, case),
        *_intervention(ordered, checks, policy, ledger, case, now),
    ]
    return [action for action in wanted if _is_due(action, policy, ledger, now)]


def _tell_alert(alert: Alert, check: Check) -> list[Action]:
    if check.severity is Severity.INFO or alert.state is AlertState.PENDING:
        return []
    if alert.state is AlertState.RESOLVED:
        title = f"{_say_alert_name(alert)} is over"
        key = write_key(Verb.TELL, alert.key, "resolved")
        return [Tell(key, title, alert.message, sticky(alert))]
    return [Tell(sticky(alert), f"{_say_alert_name(alert)} ({check.severity})", alert.message)]


def told_as_ended(
    ended: Iterable[Alert], checks: Mapping[str, Check], ledger: Ledger
) -> list[Action]:
    """That an alert's instance ended before anything showed that its condition is gone.

    How a person acknowledges it is added where there is a command for it.
    """
    told = [
        Tell(
            write_key(Verb.TELL, alert.key, "ended"),
            f"{_say_alert_name(alert)} ended unresolved",
            f"{alert.message}. {alert.instance or 'Its instance'} ended, and nothing showed that "
            "the condition is gone",
            sticky(alert),
            about=_alert_name(alert),
        )
        for alert in ended
        if checks[alert.check].severity is not Severity.INFO
    ]
    return [
        tell for tell in told if tell.key not in ledger.done and tell.key not in ledger.unfinished
    ]


def sticky(alert: Alert) -> str:
    """The key of an incident's own comment, which is kept up to date in its place."""
    return write_key(Verb.TELL, alert.key, "firing")


def _escalations(
    alerts: Sequence[Alert], checks: Mapping[str, Check], policy: RecoveryPolicy, case: Case
) -> list[Action]:
    """A check that would stop a job asks instead, unless the contract names it."""
    asking = [
        name
        for name, check in checks.items()
        if check.response is Response.ESCALATE
        or (check.response is Response.STOP and name not in policy.stop_on)
    ]
    return [
        _ask_about_alert(
            write_key(Verb.ESCALATE, alert.key),
            _say_alert_name(alert),
            f"{alert.message}{trains_on(alert, checks[alert.check], policy, case)}",
            alert,
            checks[alert.check],
            case,
        )
        for alert in alerts
        if alert.firing and alert.check in asking
    ]


def _ask_about_alert(
    key: str,
    title: str,
    why: str,
    alert: Alert,
    check: Check,
    case: Case,
    found: Doubt | None = None,
    edits: str = "",
) -> Escalate:
    """About an alert: take note of it, or change the job. A job that was not seen to end may still
    run.

    Numbers that went wrong are no fault of the hardware's, so starting again from the newest
    checkpoint is not offered: the run goes back, or on as another one.
    """
    name = _alert_name(alert)
    if check.response is Response.RELAUNCH:
        reason, ways = (found.reason, found.ways) if found else (check.reason, (Option.RELAUNCH,))
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
        about=name,
        before=alert.steps and alert.steps[0],
    )


def trains_on(alert: Alert, check: Check, policy: RecoveryPolicy, case: Case) -> str:
    """What a job costs that nothing stops although its numbers went wrong; empty for every other
    alert.
    """
    if not case.live or not check.about_numbers or alert.check in policy.stop_on:
        return ""
    return (
        f". The job continues: [babysit] stop_on does not name {alert.check}. {policy.hourly_cost}"
    )


def _again(
    alerts: Sequence[Alert],
    checks: Mapping[str, Check],
    policy: RecoveryPolicy,
    ledger: Ledger,
    case: Case,
    now: datetime,
    muted: frozenset[Topic],
) -> list[Action]:
    """What nobody recovers from is said again, until a person takes note, a relaunch or a seal."""
    said: list[Action] = []
    for alert in alerts:
        check = checks[alert.check]
        every = AGAIN.get(check.severity)
        if every is None or not alert.firing or alert.key in ledger.acked or _denied(check, ledger):
            continue
        times = (now - alert.since) // every
        if times >= 1 and check.topic not in muted:
            found = doubt(alerts, checks, policy, ledger, case.ending, now)
            key = write_key(Verb.AGAIN, alert.key, times)
            title = f"{_say_alert_name(alert)} still fires after {say_span(times * every)}"
            why = f"{_with_cause(alert, check, found)}{trains_on(alert, check, policy, case)}"
            edited = sticky(alert)
            critical = check.severity is Severity.CRITICAL
            said.append(
                _ask_about_alert(
                    key=key,
                    title=title,
                    why=why,
                    alert=alert,
                    check=check,
                    case=case,
                    found=found,
                    edits=edited,
                )
                if critical
                else Tell(key, title, why, edited, False)
            )
    return said


def _second_person(
    alerts: Sequence[Alert],
    checks: Mapping[str, Check],
    policy: RecoveryPolicy,
    ledger: Ledger,
    case: Case,
    now: datetime,
) -> list[Action]:
    """What a person was asked and nobody acknowledged in time, once for each incident."""
    asked: list[Action] = []
    after = policy.second_after
    for alert in alerts if after is not None else ():
        check = checks[alert.check]
        if check.severity is not Severity.CRITICAL or not alert.firing:
            continue
        reason = doubt(alerts, checks, policy, ledger, case.ending, now)
        recovered = check.response is Response.RELAUNCH and reason is None
        if recovered or alert.key in ledger.acked or _denied(check, ledger):
            continue
        if after is not None and now - alert.since >= after:
            words = f"{_with_cause(alert, check, reason)}{trains_on(alert, check, policy, case)}"
            asked.append(
                _ask_about_alert(
                    key=write_key(Verb.AGAIN, alert.key, UNANSWERED),
                    title=f"nobody acknowledged {_say_alert_name(alert)} for {say_span(after)}",
                    why=words,
                    alert=alert,
                    check=check,
                    case=case,
                    found=reason,
                    edits=sticky(alert),
                )
            )
    return asked


def all_answered(alerts: Iterable[Alert], checks: Mapping[str, Check], ledger: Ledger) -> bool:
    """Whether a person has taken note of everything critical that fires, or has said no to a
    relaunch.
    """
    return all(
        alert.key in ledger.acked or _denied(checks[alert.check], ledger)
        for alert in alerts
        if alert.firing and checks[alert.check].severity is Severity.CRITICAL
    )


def waiting_until(
    alerts: Iterable[Alert], checks: Mapping[str, Check], ledger: Ledger, case: Case, now: datetime
) -> datetime | None:
    """When a relaunch that backs off is due; None where none waits."""
    calls = [a.since for a in alerts if a.firing and checks[a.check].response is Response.RELAUNCH]
    if case.live or not calls:
        return None
    return wait_until(min(calls), ledger, case.ending, now)


def _denied(check: Check, ledger: Ledger) -> bool:
    """A person has said that this instance is not relaunched."""
    answer = ledger.answer
    return check.response is Response.RELAUNCH and answer is not None and not answer.yes


def _with_cause(alert: Alert, check: Check, found: Doubt | None) -> str:
    if check.response is not Response.RELAUNCH or found is None:
        return alert.message
    return f"{alert.message}. {found.why}"


def _intervention(
    alerts: Sequence[Alert],
    checks: Mapping[str, Check],
    policy: RecoveryPolicy,
    ledger: Ledger,
    case: Case,
    now: datetime,
) -> list[Action]:
    """At most one, only on what was seen this tick. A person's question outranks a machine's
    answer.
    """
    if ledger.paused(now):
        return []
    seen = [alert for alert in alerts if alert.firing and alert.seen == now]
    stops = [alert for alert in seen if alert.check in policy.stop_on]
    if stops and case.live:
        return [Stop(write_key(Verb.STOP, ledger.instance), ledger.instance, _reasons(stops))]
    calls = [a for a in seen if checks[a.check].response is Response.RELAUNCH]
    if not calls or case.live or ledger.instance in ledger.stopped:
        return []
    if ledger.answer and not ledger.answer.yes:
        return []
    why = _reasons(calls)
    if found := doubt(alerts, checks, policy, ledger, case.ending, now):
        key = not_relaunched(ledger.instance, found.kind)
        title, told = f"{ledger.instance} is not relaunched", f"{why}. {found.why}"
        first = trouble_began(alerts, checks) if found.numbers else None
        return [
            Escalate(
                key=key, title=title, why=told, reason=found.reason, ways=found.ways, before=first
            )
        ]
    if wait_until(min(alert.since for alert in calls), ledger, case.ending, now):
        return []
    if node := _node_first(policy, ledger, case):
        return [node]
    if case.ending is not None:
        why = f"{why}; {why_recoverable(case.ending, policy, ledger, now)}"
    return [Relaunch(write_key(Verb.RELAUNCH, ledger.instance), ledger.instance, why)]


def _bad_node(policy: RecoveryPolicy, case: Case) -> list[Action]:
    """The steps that replace a bad accelerator's machine, for a person, unless the contract lets us
    take them.
    """
    ending = case.ending
    if (
        ending is None
        or ending.seen != BAD_ACCELERATOR
        or (policy.delete_bad_node and ending.worker)
    ):
        return []
    title = f"{ending.instance} ran on a bad accelerator"
    steps = steps_in_words(ending.worker, policy.zone)
    why = f"{ending.why}. Nothing is deleted; a person may: {steps}"
    return [Tell(write_key(Verb.TELL, ending.instance, "bad-node"), title, why)]


def _node_first(policy: RecoveryPolicy, ledger: Ledger, case: Case) -> DeleteNode | None:
    """The bad node goes before the relaunch, which would else land on it again; not if that cannot
    be done.
    """
    ending = case.ending
    if ending is None or not (policy.delete_bad_node and ending.worker):
        return None
    key = write_key(Verb.NODE, ending.instance)
    tries = ledger.failed.get(key)
    if key in ledger.done or (tries and tries.count >= MOST_TRIES):
        return None
    return DeleteNode(key, ending.instance, ending.why, ending.worker, policy.zone)


def _is_due(action: Action, policy: RecoveryPolicy, ledger: Ledger, now: datetime) -> bool:
    """Not done, not in doubt, and far enough from its last failure."""
    if action.key in ledger.done or action.key in ledger.unfinished:
        return False
    tries = ledger.failed.get(action.key)
    if tries is None or tries.interrupted:
        return True
    if isinstance(action, Relaunch) and ledger.answer and ledger.answer.at > tries.last:
        return True  # a person says: now
    return not backs_off(tries, policy.cadence, now)


def backs_off(tries: Tries, cadence: timedelta, now: datetime) -> bool:
    """Whether it is too early to try again. A try of the future was told by a clock that was set
    back since: nobody waits for it.
    """
    return tries.last <= now < tries.last + back_off(tries.count, cadence)


def back_off(tries: int, cadence: timedelta) -> timedelta:
    """Doubling from one cadence, at most half an hour or one cadence."""
    doubled: timedelta = cadence * 2 ** (min(tries, 20) - 1)
    return min(doubled, max(timedelta(minutes=30), cadence))


def trouble_began(alerts: Iterable[Alert], checks: Mapping[str, Check]) -> int | None:
    """The first bad step in the data of what fires about the numbers; None where none names one."""
    numeric = (a for a in alerts if a.firing and a.steps and checks[a.check].about_numbers)
    return min((alert.steps[0] for alert in numeric if alert.steps), default=None)


def _say_alert_name(alert: Alert) -> str:
    return f"{alert.check} [{alert.subject}]" if alert.subject else alert.check


def _alert_name(alert: Alert) -> str:
    """As `herorun ack` takes it."""
    return f"{alert.check}[{alert.subject}]" if alert.subject else alert.check


def _reasons(alerts: Sequence[Alert]) -> str:
    return "; ".join(dict.fromkeys(alert.message for alert in alerts))
