"""From alerts to actions. Nothing here acts.

Every action has a key, and an action whose key is done is never repeated: so a tick is safe to
repeat.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.babysit.actions import Action, DeleteNode, Escalate, Relaunch, Stop, Tell
from herorun.core.babysit.alert import Alert, AlertId, AlertState
from herorun.core.check import Check, Response, Severity, Topic
from herorun.core.notify.escalation_policy import (
    Case,
    EscalationContext,
    alert_title,
    escalations,
    pages_to_secondary,
    reasons,
    reminders,
    sticky,
    trouble_began,
    without_inhibited,
)
from herorun.core.recovery.backoff import backs_off, wait_until
from herorun.core.recovery.bad_node import describe_replacement
from herorun.core.recovery.classify import BAD_ACCELERATOR
from herorun.core.recovery.decision import (
    MAX_TRIES,
    not_relaunched,
    why_recoverable,
)
from herorun.core.recovery.policy import Ledger, RecoveryPolicy


def decide(
    alerts: Mapping[AlertId, Alert],
    checks: Mapping[str, Check],
    policy: RecoveryPolicy,
    ledger: Ledger,
    now: datetime,
    *,
    case: Case | None = None,
    quiet_topics: frozenset[Topic] = frozenset(),
) -> list[Action]:
    """What to do about the alerts, in order: news, escalations, reminders, then at most one
    intervention.

    Alerts in `quiet_topics` stay open without reminders. An alert that another one inhibits gets no
    message, but still counts for an intervention.
    """
    sorted_alerts = [alerts[key] for key in sorted(alerts)]
    notified_alerts = without_inhibited(sorted_alerts, checks, ledger)
    situation = EscalationContext(checks, policy, ledger, case or Case(), now)
    actions = [
        *(
            action
            for alert in notified_alerts
            for action in _alert_actions(alert, checks[alert.check])
        ),
        *escalations(notified_alerts, situation),
        *reminders(notified_alerts, situation, quiet_topics),
        *pages_to_secondary(notified_alerts, situation),
        *_bad_node(policy, situation.case),
        *_intervention(sorted_alerts, situation),
    ]
    return [action for action in actions if _is_due(action, policy, ledger, now)]


def _alert_actions(alert: Alert, check: Check) -> list[Action]:
    if check.severity is Severity.INFO or alert.state is AlertState.PENDING:
        return []
    if alert.state is AlertState.RESOLVED:
        title = f"{alert_title(alert)} is resolved"
        key = write_key(Verb.TELL, alert.key, "resolved")
        return [Tell(key, title, alert.message, sticky(alert))]
    return [Tell(sticky(alert), f"{alert_title(alert)} ({check.severity})", alert.message)]


def ended_alert_notices(
    ended_alerts: Iterable[Alert], checks: Mapping[str, Check], ledger: Ledger
) -> list[Action]:
    """Messages that an alert ended without evidence that its condition is gone.

    The command that acknowledges it is added, if there is one.
    """
    notices = [
        Tell(
            write_key(Verb.TELL, alert.key, "ended"),
            f"{alert_title(alert)} ended unresolved",
            f"{alert.message}. {_end(alert)}nothing showed that the condition is gone",
            sticky(alert),
            about=alert.name,
        )
        for alert in without_inhibited(ended_alerts, checks, ledger)
        if alert.check not in checks or checks[alert.check].severity is not Severity.INFO
    ]
    return [
        notice
        for notice in notices
        if notice.key not in ledger.done and notice.key not in ledger.unfinished
    ]


def _end(alert: Alert) -> str:
    if alert.not_judged:
        return "The alert ends, and "
    return f"{alert.instance or 'Its instance'} ended, and "


def _intervention(alerts: Sequence[Alert], situation: EscalationContext) -> list[Action]:
    """At most one intervention, only by this tick's evidence. A question to a person takes
    precedence over an automatic action.
    """
    checks, policy, ledger = situation.checks, situation.policy, situation.ledger
    case, now = situation.case, situation.now
    if ledger.is_paused(now):
        return []
    fresh_alerts = [alert for alert in alerts if alert.firing and alert.seen == now]
    stops = [alert for alert in fresh_alerts if alert.check in policy.stop_on]
    if stops and case.live:
        return [Stop(write_key(Verb.STOP, ledger.instance), ledger.instance, reasons(stops))]
    calls = [a for a in fresh_alerts if checks[a.check].response is Response.RELAUNCH]
    if not calls or case.live or ledger.instance in ledger.stopped:
        return []
    if ledger.answer and not ledger.answer.yes:
        return []
    why = reasons(calls)
    if objection := situation.objection(alerts):
        key = not_relaunched(ledger.instance, objection.kind)
        title, message = f"{ledger.instance} is not relaunched", f"{why}. {objection.why}"
        first = trouble_began(alerts, checks) if objection.numbers else None
        return [
            Escalate(
                key=key,
                title=title,
                why=message,
                reason=objection.reason,
                ways=objection.ways,
                before=first,
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
    """A message with the steps that replace a bad accelerator's machine, unless the contract
    permits herorun to do it.
    """
    ending = case.ending
    if (
        ending is None
        or ending.seen != BAD_ACCELERATOR
        or (policy.delete_bad_node and ending.worker)
    ):
        return []
    title = f"{ending.instance} ran on a bad accelerator"
    steps = describe_replacement(ending.worker, policy.zone)
    why = f"{ending.why}. Nothing is deleted; a person may: {steps}"
    return [Tell(write_key(Verb.TELL, ending.instance, "bad-node"), title, why)]


def _node_first(policy: RecoveryPolicy, ledger: Ledger, case: Case) -> DeleteNode | None:
    """The deletion of the bad node, before the relaunch, which could otherwise land on it again;
    None if it is not possible.
    """
    ending = case.ending
    if ending is None or not (policy.delete_bad_node and ending.worker):
        return None
    key = write_key(Verb.NODE, ending.instance)
    tries = ledger.failed.get(key)
    if key in ledger.done or (tries and tries.count >= MAX_TRIES):
        return None
    return DeleteNode(key, ending.instance, ending.why, ending.worker, policy.zone)


def _is_due(action: Action, policy: RecoveryPolicy, ledger: Ledger, now: datetime) -> bool:
    """Whether the action is not done, not in doubt, and not delayed by a recent failure."""
    if action.key in ledger.done or action.key in ledger.unfinished:
        return False
    tries = ledger.failed.get(action.key)
    if tries is None or tries.interrupted:
        return True
    if isinstance(action, Relaunch) and ledger.answer and ledger.answer.at > tries.last:
        return True  # a person ordered it now
    return not backs_off(tries, policy.cadence, now)
