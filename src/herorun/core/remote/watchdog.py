"""Whether a run is still monitored, by what a babysitter leaves in the published record. Pure.

This is separate from the run's own health: a healthy run may be unmonitored, and a run that is down
may be well monitored.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum

from herorun.core.babysit.action_key import Verb, parse_key, write_key
from herorun.core.check import Check, Response
from herorun.core.contract import Contract, Recovery
from herorun.core.durations import format_duration, format_span
from herorun.core.finding import count
from herorun.core.health.run_health import RunHealth
from herorun.core.journal import Memory
from herorun.core.lazy_dataclass import dataclass
from herorun.core.notify.escalation_policy import all_answered

MISSED_TICKS = 2  # cadences without a tick that could see
MIN_AGE = timedelta(minutes=2)  # below it nothing is stale: a tick takes its time


class WatchState(StrEnum):
    FRESH = "fresh"
    STALE = "stale"
    NOT_WATCHED = (
        # nothing is to be watched: not launched, ended, sealed, or declined by the contract
        "not-watched"
    )


@dataclass(frozen=True)
class MonitorSilence:
    """What another machine sees of the monitor. `key` names one silence, which is reported once."""

    slug: str
    monitor: WatchState
    why: str
    last_seen: datetime | None = None
    due: datetime | None = None  # from then on it is stale
    key: str = ""


def watchdog(
    slug: str, memory: Memory, contract: Contract, checks: Mapping[str, Check], now: datetime
) -> MonitorSilence:
    """Stale once no tick that could see was published for two cadences."""
    if why := _quiet(slug, memory, contract, checks):
        return MonitorSilence(slug, WatchState.NOT_WATCHED, why, memory.last_seen)
    current = memory.current
    assert current is not None  # its silence was excluded above
    last_seen = (
        memory.last_seen if memory.last_seen and memory.last_seen >= current.started else None
    )
    since, cadence = last_seen or current.started, contract.babysit.cadence
    due = since + max(MIN_AGE, MISSED_TICKS * cadence)
    what = (
        "the newest successful tick in its record was"
        if last_seen
        else f"its record has no successful tick since {current.name} was launched"
    )
    every = format_duration(cadence)
    age = f"{format_span(max(now - since, timedelta(0)))} ago"
    message = f"{what} at {since:%Y-%m-%d %H:%M} UTC ({age}); a tick is due every {every}"
    if now >= due and (owner := _owner(memory, contract)):
        message += f"; by the record and contract, its owner is {owner}"
    key = write_key(Verb.WATCHDOG, current.name, f"{since:%Y%m%dT%H%M%S.%f}")
    return MonitorSilence(
        slug, WatchState.STALE if now >= due else WatchState.FRESH, message, last_seen, due, key
    )


def _relaunches(memory: Memory, contract: Contract) -> bool:
    """Whether a babysitter may still relaunch the run that is down: nothing forbids it, and no
    question about it is open.
    """
    name = memory.current.name if memory.current else ""
    answer = memory.answers.get(name)
    if contract.babysit.recovery is not Recovery.RELAUNCH or name in memory.stopped_instances:
        return False
    if answer is not None:
        return answer.yes
    questions = (parse_key(key).relaunch_question for key in memory.done)
    return not any(question and question[0] == name for question in questions)


def _owner(memory: Memory, contract: Contract) -> str:
    """The user and machine that should monitor it, by the record or the contract."""
    if memory.lease:
        return memory.lease.owner
    if memory.handed:
        return memory.handed.to
    if contract.babysit.owner:
        return contract.babysit.owner
    launching = memory.launchings.get(memory.current.name) if memory.current else None
    return launching.by if launching else ""


def _quiet(slug: str, memory: Memory, contract: Contract, checks: Mapping[str, Check]) -> str:
    """Why the run needs no monitor; empty if it needs one."""
    if memory.sealed:
        return f"sealed as {memory.sealed.tag}"
    if memory.current is None:
        return "nothing was launched yet"
    if contract.babysit.declined:
        return f"the contract declines a babysitter: {contract.babysit.declined}"
    last = memory.last_decided
    if last is None or last.at < memory.current.started:
        return ""
    if last.run == RunHealth.FINISHED:
        return _describe_finished(slug, memory)
    alerts = [alert for alert in memory.alerts.values() if alert.check in checks]
    calls = any(a.firing and checks[a.check].response is Response.RELAUNCH for a in alerts)
    is_answered = all_answered(alerts, checks, memory.ledger)
    is_answered = is_answered and not (calls and _relaunches(memory, contract))
    if last.run == RunHealth.DOWN and is_answered and memory.decision:
        return f"it is down, and {memory.decision}"
    return ""


def _describe_finished(slug: str, memory: Memory) -> str:
    """A run that has finished may still have problems that nobody acknowledged."""
    firing = [a for a in memory.alerts.values() if a.firing and a.key not in memory.acked]
    if number := len(firing) + len(memory.unacknowledged_alerts):
        return f"it has finished with {count(number, 'open alert')}: `herorun status {slug}`"
    return "it has finished and waits for the seal"
