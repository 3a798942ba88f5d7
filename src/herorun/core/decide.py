"""From alerts to actions. Nothing here acts.

Every action has a key, and a key that is done is never acted on again: that is what makes a tick safe to repeat.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeAlias

from herorun.core.alert import Alert, AlertId, State
from herorun.core.check import Check, Response, Severity
from herorun.core.contract import Recovery


@dataclass(frozen=True)
class Tell:
    key: str
    title: str
    why: str


@dataclass(frozen=True)
class Escalate:
    """Ask a person. The DRI is named."""

    key: str
    title: str
    why: str


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


Action: TypeAlias = Tell | Escalate | Relaunch | Stop


@dataclass(frozen=True)
class Policy:
    """What the contract allows the babysitter to do."""

    recovery: Recovery = Recovery.RELAUNCH
    relaunches: int = 6
    window: timedelta = timedelta(hours=24)
    cadence: timedelta = timedelta(minutes=15)


@dataclass(frozen=True)
class Tries:
    """What was tried under one key and failed."""

    count: int
    last: datetime
    why: str = ""
    interrupted: bool = False  # the last one: nothing said no, so there is nothing to wait for


@dataclass(frozen=True)
class Ledger:
    """What was done and tried before, as `decide` needs it."""

    done: frozenset[str] = frozenset()
    failed: Mapping[str, Tries] = field(default_factory=dict)
    unfinished: frozenset[str] = frozenset()  # intended, and nobody knows the outcome
    relaunched: tuple[datetime, ...] = ()
    instance: str = ""


MOST_TRIES = 3  # of one action, before a person is asked instead


def decide(
    alerts: Mapping[AlertId, Alert],
    checks: Mapping[str, Check],
    policy: Policy,
    ledger: Ledger,
    now: datetime,
) -> list[Action]:
    """What to do about the alerts, in order: news, escalations, then at most one intervention."""
    ordered = [alerts[key] for key in sorted(alerts)]
    wanted = [
        *(tell for alert in ordered for tell in _news(alert, checks[alert.check])),
        *_escalations(ordered, checks),
        *_intervention(ordered, checks, policy, ledger, now),
    ]
    return [action for action in wanted if _due(action, policy, ledger, now)]


def _news(alert: Alert, check: Check) -> list[Action]:
    if check.severity is Severity.INFO or alert.state is State.PENDING:
        return []
    if alert.state is State.RESOLVED:
        return [Tell(f"tell/{alert.key}/resolved", f"{_named(alert)} is over", alert.message)]
    return [Tell(f"tell/{alert.key}/firing", f"{_named(alert)} ({check.severity})", alert.message)]


def _escalations(alerts: Sequence[Alert], checks: Mapping[str, Check]) -> list[Action]:
    return [
        Escalate(f"escalate/{alert.key}", _named(alert), alert.message)
        for alert in alerts
        if alert.firing and checks[alert.check].response is Response.ESCALATE
    ]


def _intervention(
    alerts: Sequence[Alert], checks: Mapping[str, Check], policy: Policy, ledger: Ledger, now: datetime
) -> list[Action]:
    """At most one, only on what was seen this tick. A person's question outranks a machine's answer."""
    seen = [alert for alert in alerts if alert.firing and alert.seen == now]
    if stops := [a for a in seen if checks[a.check].response is Response.STOP]:
        return [Stop(f"stop/{ledger.instance}", ledger.instance, _reasons(stops))]
    calls = [a for a in seen if checks[a.check].response is Response.RELAUNCH]
    if not calls:
        return []
    why = _reasons(calls)
    if doubt := _doubt(alerts, checks, policy, ledger, now):
        key = not_relaunched(ledger.instance, doubt.kind)
        return [Escalate(key, f"{ledger.instance} is not relaunched", f"{why}. {doubt.why}")]
    return [Relaunch(f"relaunch/{ledger.instance}", ledger.instance, why)]


@dataclass(frozen=True)
class Doubt:
    """Why a person must decide instead. Each kind is asked once an instance."""

    kind: str
    why: str


def not_relaunched(instance: str, kind: str) -> str:
    """The key of that question."""
    return f"escalate/relaunch/{instance}/{kind}"


def _doubt(
    alerts: Sequence[Alert], checks: Mapping[str, Check], policy: Policy, ledger: Ledger, now: datetime
) -> Doubt | None:
    """None if nothing stands against a relaunch.

    A veto holds for the instance, also when its alert is over: what was numeric trouble when the job ended does not
    become a hardware fault by the next tick. A person launches again.
    """
    vetoes = [a.check for a in alerts if a.firing and checks[a.check].vetoes_relaunch]
    if vetoes or not_relaunched(ledger.instance, "veto") in ledger.done | ledger.unfinished:
        return Doubt("veto", f"Held back by {', '.join(sorted(set(vetoes))) or 'what was seen before'}.")
    if policy.recovery is not Recovery.RELAUNCH:
        return Doubt("recovery", f"The contract says recovery = {policy.recovery}.")
    recent = [at for at in ledger.relaunched if now - at <= policy.window]
    if len(recent) >= policy.relaunches:
        return Doubt("budget", f"The budget of {policy.relaunches} relaunches is spent.")
    tries = ledger.failed.get(f"relaunch/{ledger.instance}")
    if tries and tries.count >= MOST_TRIES:
        return Doubt("tries", f"{tries.count} attempts failed; the last one: {tries.why}")
    return None


def _due(action: Action, policy: Policy, ledger: Ledger, now: datetime) -> bool:
    """Not done, not in doubt, and far enough from its last failure."""
    if action.key in ledger.done or action.key in ledger.unfinished:
        return False
    tries = ledger.failed.get(action.key)
    if tries is None or tries.interrupted:
        return True
    return now - tries.last >= back_off(tries.count, policy.cadence)


def back_off(tries: int, cadence: timedelta) -> timedelta:
    """Doubling from one cadence, at most half an hour or one cadence."""
    doubled: timedelta = cadence * 2 ** (min(tries, 20) - 1)
    return min(doubled, max(timedelta(minutes=30), cadence))


def _named(alert: Alert) -> str:
    return f"{alert.check} [{alert.subject}]" if alert.subject else alert.check


def _reasons(alerts: Sequence[Alert]) -> str:
    return "; ".join(dict.fromkeys(alert.message for alert in alerts))
