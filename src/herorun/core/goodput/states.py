"""The states that the wall time is split into. Each moment is in exactly one, so the parts are the
whole.
"""

from dataclasses import field
from enum import StrEnum

from herorun.core.lazy_dataclass import dataclass


class WallTimeState(StrEnum):
    """Where a moment of wall time went."""

    QUEUED = "queued"  # from the intent to launch until the scheduler started the job
    INIT = "init"  # until check-in; from scratch, until the first step
    RESTORE = "restore"  # from check-in until the first step after a checkpoint
    CATCH_UP = "catch-up"  # steps that an earlier instance had reached already
    PRODUCTIVE = "productive"  # steps that were reached for the first time
    EVAL = "eval"
    CHECKPOINT = "checkpoint"  # training waited for a save
    STALLED = "stalled"  # it ran, made no steps, and an alert fired
    DOWN = "down"  # nothing ran: from an end that was seen until the next intent to launch
    UNKNOWN = "unknown"  # neither the journal nor the rows say


HOLDING_STATES = frozenset(WallTimeState) - {
    WallTimeState.QUEUED,
    WallTimeState.DOWN,
    WallTimeState.UNKNOWN,
}  # accelerators are surely ours then
SECOND = 1_000_000  # times here are whole microseconds since 1970, so that sums are exact


@dataclass(frozen=True)
class StateSpan:
    """One state from `since` to `until`. `accelerators` is None where the plan does not say how
    many.
    """

    state: WallTimeState
    since: int
    until: int
    accelerators: int | None = None

    @property
    def length(self) -> int:
        return self.until - self.since


@dataclass
class Timeline:
    """Stretches, one behind the other: what is reported late or twice cannot overlap."""

    now: int
    accelerators: int | None = None
    stretches: list[StateSpan] = field(default_factory=list)

    def upto(self, until: int, state: WallTimeState) -> None:
        """Assign the time up to that moment that has no state yet to this state."""
        if until <= self.now:
            return
        last = self.stretches[-1] if self.stretches else None
        if last and (last.state, last.accelerators) == (state, self.accelerators):
            self.stretches[-1] = StateSpan(state, last.since, until, self.accelerators)
        else:
            self.stretches.append(StateSpan(state, self.now, until, self.accelerators))
        self.now = until
