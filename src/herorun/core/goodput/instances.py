"""What the journal says about each instance: when it was intended, started, checked in, and how it
ended.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from herorun.core.event import CheckedIn, Decided, Event, Launched, Launching, Sealed
from herorun.core.evidence import End, JobState
from herorun.core.goodput.states import SECOND
from herorun.core.journal.launch_intents import plan_value
from herorun.core.lazy_dataclass import dataclass
from herorun.core.recovery.classify import Cause, Ending

# the alerts that say that a live job makes no steps
STALLS = frozenset({"stalled-steps", "stalled-by-infrastructure"})


def micros(at: datetime) -> int:
    """Whole microseconds since 1970."""
    return round(at.timestamp() * SECOND)


@dataclass(kw_only=True)
class InstanceTimeline:
    """One instance. Times are microseconds; None if unknown."""

    name: str
    intended: int
    launched: int
    relaunch_of: str = ""
    # completed updates when it begins; None: its checkpoint's step is not known
    start_step: int | None = 0
    from_checkpoint: bool = False
    accelerators: int | None = None
    job_started: int | None = None
    checked_in: int | None = None
    end: End | None = None
    ending: Ending | None = None
    seen_ended: int | None = None  # when the first tick saw the end

    @property
    def ended_at(self) -> int | None:
        """By the scheduler; otherwise when it was seen; None while it is unknown."""
        ended_at = self.end.ended if self.end else None
        if ended_at is None and self.ending and micros(self.ending.ended) != self.seen_ended:
            ended_at = self.ending.ended
        if ended_at is not None:
            return (
                min(micros(ended_at), self.seen_ended)
                if self.seen_ended is not None
                else micros(ended_at)
            )
        return self.seen_ended

    @property
    def end_is_dated(self) -> bool:
        """Whether the scheduler dated its end; if not, the tick that noticed it gives the time."""
        return self.ended_at is not None and self.ended_at != self.seen_ended

    @property
    def last_step(self) -> int:
        """Completed updates when it ended, as the tick saw it; 0 where it saw none."""
        return (self.end.step if self.end else 0) or 0

    @property
    def has_succeeded(self) -> bool:
        return self.end is not None and self.end.state is JobState.SUCCEEDED

    @property
    def cause(self) -> Cause | None:
        """Why it was interrupted; None where it was not, or its end was not seen."""
        if self.ending:
            return self.ending.cause
        return Cause.UNKNOWN if self.end and not self.has_succeeded else None


@dataclass
class JournalFacts:
    """All that the journal tells."""

    lives: list[InstanceTimeline] = field(default_factory=list)
    stalls: list[tuple[int, int]] = field(default_factory=list)  # since, last seen
    until: int = 0  # of the newest event that concerns the run

    def add(self, event: Event, launching: dict[str, Launching]) -> None:
        match event:
            case Launching():
                launching.setdefault(event.instance, event)
            case Launched():
                self.lives.append(_life(event, launching.get(event.instance)))
            case CheckedIn() if event.written is not None:
                for life in self.lives:
                    if life.name == event.instance and life.checked_in is None:
                        life.checked_in = micros(event.written)
            case Decided() if self.lives:
                self._add_decision(event)
        if isinstance(event, Launched | CheckedIn | Decided | Sealed):
            self.until = max(self.until, micros(event.at))

    def _add_decision(self, event: Decided) -> None:
        at, current = micros(event.at), self.lives[-1]
        if event.job_started is not None:
            current.job_started = micros(event.job_started)
        for life in self.lives:
            if event.ended and event.ended.instance == life.name:
                life.end = event.ended
                life.seen_ended = life.seen_ended or at
            if event.failure and event.failure.instance == life.name:
                life.ending = event.failure
                life.seen_ended = life.seen_ended or at
        self.stalls += [
            (micros(a.since), at) for a in event.alerts if a.firing and a.check in STALLS
        ]


def facts_of_journal(events: Iterable[Event]) -> JournalFacts:
    """The instances that were really launched, in their order, and what else is known of their
    time.
    """
    facts, launching = JournalFacts(), dict[str, Launching]()
    for event in events:
        facts.add(event, launching)
    return facts


def _life(event: Launched, launching: Launching | None) -> InstanceTimeline:
    plan = launching.plan if launching else {}
    start, hardware = plan_value(plan, "start"), plan_value(plan, "hardware") or {}
    step = _start_step(start)
    return InstanceTimeline(
        name=event.instance,
        intended=micros(launching.at if launching else event.at),
        launched=micros(event.at),
        relaunch_of=event.relaunch_of,
        start_step=step,
        from_checkpoint=start is not None,
        accelerators=hardware.get("count"),
    )


def _start_step(start: Mapping[str, Any] | None) -> int | None:
    if start is None or start.get("kind") == "weights-only":
        return 0
    step = start.get("step")
    return int(step) if step is not None else None
