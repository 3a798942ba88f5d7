"""What a command records about an instance before another one replaces it."""

from dataclasses import replace
from datetime import datetime, timedelta

from herorun.core.babysit.tick import MonitorHealth, RunHealth
from herorun.core.clock_skew import SKEW
from herorun.core.event import Decided
from herorun.core.evidence import (
    Cadence,
    Checkpoints,
    End,
    Evidence,
    JobState,
    Metrics,
    Nothing,
    Unavailable,
)
from herorun.core.health.liveness import RowPatience
from herorun.core.journal import Memory
from herorun.core.journal.decision import build_decision
from herorun.core.lazy_dataclass import dataclass
from herorun.operations.health.evaluate import evaluate
from herorun.operations.health.taints import with_taints_now
from herorun.runs import Run
from herorun.system.clock import now

WRONG_CLOCK = timedelta(hours=1)  # a write dated further ahead does not tell when it was


def record_before_replacing(run: Run) -> None:
    """Record the current instance's end and taints, if no tick has: the next instance's ticks read
    that one alone, and every later start needs the taints.

    Later ticks still notify and ask as usual: a new end alone changes no alert.
    """
    memory = run.record.memory()
    if memory.current is None or memory.sealed:
        return
    has_new_taints = with_taints_now(run, memory).health.taints != memory.health.taints
    if not has_new_taints and memory.current.name in memory.ends:
        return
    result, evidence = evaluate(run, memory=memory)
    event = build_decision(result, evidence, memory, ())
    if not has_new_taints and event.ended is None:
        return
    metrics = evidence.get(Metrics)
    rows = metrics.rows if isinstance(metrics, Metrics) else 0
    event = replace(event, rows=rows, by_order=True)
    run.record.append(event if has_new_taints else _with_alerts_of(memory, event))


@dataclass(frozen=True)
class RecentWrite:
    """What a run wrote so recently that one of its processes may still run."""

    what: str  # with a verb, as in "the newest row came"
    at: datetime
    patience: timedelta
    is_ahead: bool = False  # of the clock here

    @property
    def message(self) -> str:
        ahead = ", which is ahead of the clock here" if self.is_ahead else ""
        return f"{self.what} at {self.at:%H:%M} UTC{ahead}"

    @property
    def over_at(self) -> datetime:
        """From when on it is no sign of life."""
        return self.at + self.patience


def find_recent_write(run: Run, evidence: Evidence, at: datetime) -> RecentWrite | None:
    """The latest write, if it is so recent that a process of the run may still live, whatever its
    scheduler lists.
    """
    metrics, checkpoints = evidence.get(Metrics), evidence.get(Checkpoints)
    patience, writes = RowPatience(), []
    most = patience.idle
    if isinstance(metrics, Metrics):
        cadence = Cadence(run.contract.babysit.cadence)
        most = patience.between_rows(metrics, Nothing("not asked"), cadence)
        writes.append(RecentWrite("the newest row came", metrics.stamped_at, most))
    newest = checkpoints.newest if isinstance(checkpoints, Checkpoints) else None
    if newest and newest.modified:
        writes.append(RecentWrite("the newest checkpoint was saved", newest.modified, most))
    recent_writes = [each for each in writes if at - most < each.at <= at + WRONG_CLOCK]
    latest = max(recent_writes, key=lambda each: each.at, default=None)
    return replace(latest, is_ahead=True) if latest and latest.at > at + SKEW else latest


def unread_signs_of_life(evidence: Evidence) -> str:
    """Why it is unknown whether a process of the run still writes; "" if its rows, or, of a run
    that logs none, its checkpoints were read.
    """
    metrics = evidence.get(Metrics)
    sign = metrics if isinstance(metrics, Metrics | Unavailable) else evidence.get(Checkpoints)
    return sign.why if isinstance(sign, Unavailable) else ""


def record_forgotten_end(run: Run, name: str) -> None:
    """Record the end of an instance that its scheduler no longer lists, after its stop was ordered.
    How it ended is unknown, so it counts as cancelled.
    """
    memory = run.record.memory()
    if name in memory.ends:
        return
    last = memory.last_decided
    event = Decided(
        at=now(),
        run=RunHealth.DOWN,
        monitor=MonitorHealth.PARTIAL,
        progress=last.progress if last else "",
        ended=End(instance=name, state=JobState.CANCELLED, at=now(), forgotten=True),
        by_order=True,
    )
    run.record.append(_with_alerts_of(memory, event))
    run.record.push()


def _with_alerts_of(memory: Memory, event: Decided) -> Decided:
    """Without the alerts that no tick has seen, since nobody would be notified of them."""
    return replace(event, alerts=tuple(memory.alerts.values()), summary="")
