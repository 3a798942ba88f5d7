"""A replay: the product's own sources, folds, checks and `tick`, turn by turn, at the pace that it
keeps itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from builders import healthy
from herorun import adapters, discover
from herorun.core.babysit.actions import Action
from herorun.core.babysit.alert import AlertState
from herorun.core.babysit.cadence import next_tick_delay
from herorun.core.babysit.tick import Rules, Tick, tick
from herorun.core.check import Gate
from herorun.core.contract import Contract, contract_from
from herorun.core.event import Decided, Done, Initialised, Intended
from herorun.core.evidence import (
    Cadence,
    Checkpoints,
    ContractDrift,
    Disks,
    FinalStep,
    Heartbeat,
    History,
    IssuePage,
    Launcher,
    LaunchProof,
    Metrics,
    Nothing,
    Now,
    PriorLaunch,
    Receipt,
    RecordLease,
    Triage,
    Undelivered,
    Unfinished,
)
from herorun.core.journal import Memory, fold
from herorun.core.ports import (
    Channels,
    Layout,
    Place,
    Scheduler as SchedulerPort,
    Store as StorePort,
    Tracker as TrackerPort,
)
from herorun.core.recovery.endings import end_to_record, saved_to_record
from herorun.core.recovery.policy import RecoveryPolicy
from herorun.gather import gather
from herorun.runs import final_step, prior_launch
from herorun.sources.metrics import keep_metrics
from replays.world import Broken, Clock, Incident, Scheduler, Store, launches, order, tracker_of

FILE = "runs/replay.toml"
CHECKS = {check.name: check for check in discover.checks(Gate.HEALTH)}


@dataclass(frozen=True)
class Seen:
    """One turn."""

    at: datetime
    tick: Tick
    evidence: dict[Any, Any]

    @property
    def critical(self) -> set[str]:
        return {name for name in self.firing if CHECKS[name].severity == "critical"}

    @property
    def firing(self) -> set[str]:
        return {
            alert.check for alert in self.tick.alerts.values() if alert.state is AlertState.FIRING
        }

    @property
    def actions(self) -> list[Action]:
        return self.tick.actions


def contract_of(incident: Incident) -> Contract:
    """The contract of the header, with the default thresholds: no replay brings its own."""
    tables = incident.facts["contract"]
    assert "thresholds" not in tables.get("babysit", {})
    return contract_from(tables, FILE)


class Replay:
    """The memory is folded from what each turn would have journalled; an action that is decided
    counts as done.
    """

    def __init__(self, incident: Incident, folder: Path) -> None:
        self.incident, self.clock = incident, Clock(incident.begin)
        self.contract = contract_of(incident)
        self.place = Place(
            self.contract.slug, str(folder), self.contract.output.root.rstrip("/"), str(folder)
        )
        babysit = self.contract.babysit
        self.rules = Rules(
            discover.checks(Gate.HEALTH),
            RecoveryPolicy(recovery=babysit.recovery, cadence=babysit.cadence),
        )
        self.memory = fold(
            [Initialised(incident.begin - timedelta(days=1), self.contract.slug, {})]
        )
        self.line_count = 0
        parts = {
            SchedulerPort: ("scheduler", Scheduler(incident, self.clock, folder)),
            TrackerPort: ("tracker", tracker_of(incident, self.clock)),
            StorePort: ("store", Store(incident, self.clock)),
        }
        self.ports = {
            k: Broken(real, name, incident, self.clock) for k, (name, real) in parts.items()
        }

    def turns(self) -> Iterator[Seen]:
        while self.clock.now <= self.incident.end:
            self._hear()
            evidence = self._turn()
            yield evidence
            self.clock.now += self._pause(evidence.tick)

    def _hear(self) -> None:
        """Launches and orders that happened since the last turn."""
        lines = [x for x in self.incident.lines if x["at"] <= self.clock.now]
        for line in lines[self.line_count :]:
            if "launched" in line:
                self.memory = fold(launches(line, FILE), self.memory)
            elif "ordered" in line:
                self.memory = fold(order(line), self.memory)
        self.line_count = len(lines)

    def _turn(self) -> Seen:
        now, memory = self.clock.now, self.memory
        needs = [need for check in self.rules.checks for need in check.needs]
        evidence = gather(
            [*needs, Metrics, Receipt, FinalStep, Checkpoints, Triage],
            discover.sources(),
            self._evidence(),
        )
        turn = tick(memory.alerts, memory.ledger, evidence, self.rules, now)
        self._journal(turn, evidence)
        keep_metrics(self.place, evidence.get(Metrics))
        return Seen(now, turn, evidence)

    def _evidence(self) -> dict[Any, Any]:
        memory, now = self.memory, self.clock.now
        disks = self.incident.until(now, "disks")
        return {
            Contract: self.contract,
            Place: self.place,
            Channels: Channels(),
            **self.ports,
            Layout: adapters.connect(
                "stores.layouts", self.contract.checkpoints.layout, {}, self.place
            ),
            Launcher: Launcher("dri@here", "Dri"),
            Cadence: Cadence(self.contract.babysit.cadence),
            Now: Now(now),
            History: memory.history,
            LaunchProof: LaunchProof(),
            Undelivered: Undelivered(),
            Unfinished: memory.unfinished_actions,
            FinalStep: final_step(memory),
            PriorLaunch: prior_launch(memory),
            IssuePage: IssuePage("issue.md"),
            ContractDrift: Nothing("the contract is the admitted one"),
            Heartbeat: Heartbeat(True, now),
            RecordLease: Nothing("it lies in the output root"),
            Disks: healthy(Gate.HEALTH)[Disks] if not disks else disks[-1]["disks"],
        }

    def _journal(self, turn: Tick, evidence: dict[Any, Any]) -> None:
        history = self.memory.history
        decision = Decided(
            at=turn.at,
            run=turn.run.value,
            monitor=turn.monitor.value,
            progress="",
            alerts=tuple(turn.alerts.values()),
            actions=tuple(action.key for action in turn.actions),
            summary="",
            ended=end_to_record(evidence, history, turn.at),
            saved=saved_to_record(evidence, history),
            failure=turn.ending,
        )
        events: list[Any] = [decision]
        for action in turn.actions:
            attempt = self.memory.attempt(action.key)
            events += [
                Intended(at=turn.at, key=action.key, attempt=attempt, what=action.why),
                Done(turn.at, action.key, attempt),
            ]
        self.memory = fold(events, self.memory)

    def _pause(self, turn: Tick) -> timedelta:
        """As the babysitter's loop paces itself (`operations.babysit.tick.pause_after`)."""
        memory, now = self.memory, self.clock.now
        current, news = memory.current, [a for a in memory.alerts.values() if _is_news(a, memory)]
        launching = memory.launchings.get(current.name) if current else None
        return next_tick_delay(
            self.contract.babysit.cadence,
            now - current.started if current else None,
            bool(launching and launching.relaunch_of),
            any(alert.state is AlertState.PENDING for alert in news),
            any(alert.firing for alert in news),
            turn.wake - now if turn.wake and turn.wake > now else None,
        )


def _is_news(alert: Any, memory: Memory) -> bool:
    return CHECKS[alert.check].severity == "critical" and alert.key not in memory.acked
