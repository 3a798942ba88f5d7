"""Jobs, as their scheduler tells of them."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class JobState(StrEnum):
    PENDING = "pending"
    BUILDING = "building"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    PREEMPTED = "preempted"
    TIMED_OUT = "timed-out"
    OUT_OF_MEMORY = "out-of-memory"
    NODE_FAILED = "node-failed"
    UNSCHEDULABLE = "unschedulable"
    GONE = "gone"
    UNKNOWN = "unknown"

    @property
    def live(self) -> bool:
        return self in (JobState.PENDING, JobState.BUILDING, JobState.RUNNING)

    @property
    def ended(self) -> bool:
        return not self.live and self is not JobState.UNKNOWN

    @property
    def in_doubt(self) -> bool:
        """Nobody can say whether it runs, or how it ended."""
        return self in (JobState.UNKNOWN, JobState.GONE)


REFUSED_EXIT_CODE = 78  # EX_CONFIG of sysexits.h: what check-in exits with when it refuses


@dataclass(frozen=True)
class Job:
    """The current instance as its scheduler tells of it."""

    id: str
    instance: str
    state: JobState
    raw: str = ""  # the scheduler's own word
    reason: str = ""
    exit_code: int | None = None
    signal: str | None = None
    stopped_by: str | None = None  # who asked for the end, where the scheduler knows
    started: datetime | None = None
    ended: datetime | None = None

    @property
    def ending(self) -> str:
        """How it ended, in words."""
        how = (
            f"signal {self.signal}"
            if self.signal
            else f"exit code {self.exit_code}"
            if self.exit_code is not None
            else self.reason or "no reason given"
        )
        return f"{self.instance} is {self.state}: {how}"

    @property
    def refused(self) -> bool:
        return self.exit_code == REFUSED_EXIT_CODE

    @property
    def stopped_by_hand(self) -> bool:
        return self.state is JobState.CANCELLED

    @property
    def crashed(self) -> bool:
        return (
            self.state.ended
            and self.state not in (JobState.SUCCEEDED, JobState.GONE)  # nobody knows how a gone one ended
            and not self.stopped_by_hand
            and not self.refused
        )


@dataclass(frozen=True)
class LiveJobs:
    """The jobs of this run that are live, or may be, by instance name."""

    jobs: tuple[Job, ...] = ()
