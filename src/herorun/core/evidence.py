"""Everything that a check may know, on one page.

An evidence type is a key: a gate holds for each type its value, `Nothing` (we looked, and there is none yet)
or `Unavailable` (we could not look). Steps count completed updates; times are aware and in UTC.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Generic, TypeAlias, TypeVar

T = TypeVar("T")
Evidence: TypeAlias = Mapping[Any, Any]  # evidence type -> value, Nothing or Unavailable


@dataclass(frozen=True)
class Unavailable:
    """We tried to read this evidence and could not."""

    why: str


@dataclass(frozen=True)
class Nothing:
    """We looked, and there is none yet."""

    why: str = ""


@dataclass(frozen=True)
class Sourced(Generic[T]):
    """A value and how we came by it.

    >>> print(Sourced(5155, "trainer.num_train_steps", inferred=True))
    5155 (inferred from trainer.num_train_steps)
    """

    value: T
    source: str
    inferred: bool = False

    def __str__(self) -> str:
        how = f"inferred from {self.source}" if self.inferred else self.source
        return f"{self.value} ({how})" if how else str(self.value)


@dataclass(frozen=True)
class Now:
    at: datetime


@dataclass(frozen=True)
class Gaps:
    """Which evidence we failed to read this time, as `type: why`."""

    gaps: tuple[str, ...] = ()
    asked: int = 0  # how many evidence types were read in all


# --- the source tree -----------------------------------------------------------------------------


@dataclass(frozen=True)
class WorkTree:
    """The commit that HEAD names, and what differs from it."""

    commit: str
    branch: str | None = None  # None: detached
    staged: tuple[str, ...] = ()
    unstaged: tuple[str, ...] = ()
    untracked: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()  # edits behind assume-unchanged or skip-worktree

    @property
    def dirty(self) -> tuple[str, ...]:
        named = (
            ("staged", self.staged),
            ("modified", self.unstaged),
            ("untracked", self.untracked),
            ("hidden", self.hidden),
        )
        return tuple(f"{path} ({word})" for word, paths in named for path in paths)


@dataclass(frozen=True)
class Published:
    """Which refs of the remote contain the commit. An empty `refs` means that we looked and none does."""

    remote: str
    commit: str
    refs: tuple[str, ...]


@dataclass(frozen=True)
class Remotes:
    """The git remotes by name, credentials removed."""

    urls: Mapping[str, str]


@dataclass(frozen=True)
class Launcher:
    """Who runs herorun, as user@machine, and the name that git or the system knows them by."""

    owner: str
    user: str | None


# --- checkpoints and roots -----------------------------------------------------------------------


@dataclass(frozen=True)
class Candidate:
    """One checkpoint folder. `problem` is empty for a complete one."""

    path: str
    step: int  # from the folder's name
    root: str
    temporary: bool = False
    timestamp: str = ""  # as written, often naive local time: never compared with now
    problem: str = ""

    @property
    def complete(self) -> bool:
        return not self.problem


@dataclass(frozen=True)
class Checkpoints:
    """What lies under the run's own roots, ordered by step."""

    candidates: tuple[Candidate, ...] = ()

    @property
    def newest(self) -> Candidate | None:
        """The newest complete one, by numeric step."""
        complete = [candidate for candidate in self.candidates if candidate.complete]
        return max(complete, key=lambda c: (c.step, c.timestamp, c.path), default=None)

    def at(self, path: str) -> Candidate | None:
        return next((c for c in self.candidates if c.path == path.rstrip("/")), None)


@dataclass(frozen=True)
class StartSiblings:
    """The checkpoints beside the one that the contract's `[start] from` names."""

    candidates: tuple[Candidate, ...] = ()


def candidates_of(*places: Checkpoints | StartSiblings | Nothing | Unavailable) -> tuple[Candidate, ...]:
    """Every checkpoint of the places that could be read."""
    read = (place for place in places if isinstance(place, (Checkpoints, StartSiblings)))
    return tuple(dict.fromkeys(candidate for place in read for candidate in place.candidates))


@dataclass(frozen=True)
class OutputRoots:
    """What lies in the output roots, without `_herorun/`; None for a root that does not exist yet."""

    entries: Mapping[str, tuple[str, ...] | None]


# --- jobs ----------------------------------------------------------------------------------------


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


# --- what the run reports --------------------------------------------------------------------------


@dataclass(frozen=True)
class Excursion:
    """A stretch of rows in which a curve left what was expected of it."""

    metric: str
    first_step: int
    last_step: int
    rows: int
    peak: float  # the largest ratio to the expected value; infinite for a non-finite value
    expected: float
    open: bool  # whether the newest row is still part of it


@dataclass(frozen=True)
class Metrics:
    """What the tracker's rows amount to, folded. `step` counts completed updates of the current instance."""

    step: int
    rows: int
    advanced_at: datetime  # when the step last rose, by the row's own clock or the file's
    first_step: int = 0  # of the current attempt
    high_water: int = 0  # the highest step of any attempt
    attempts: int = 1
    last: Mapping[str, float] | None = None
    spikes: tuple[Excursion, ...] = ()
    non_finite: tuple[Excursion, ...] = ()
    problems: tuple[str, ...] = ()  # lines that could not be read


@dataclass(frozen=True)
class FinalStep:
    """Completed updates at the end of the run, as the plan resolved it; `source` says from where, or why not."""

    value: int | None
    source: str = ""


@dataclass(frozen=True)
class Admitted:
    """What check-in compared, item by item: (item, pass | fail | unknown, message)."""

    items: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class Receipt:
    """What check-in wrote inside the job."""

    instance: str
    attempt: int
    outcome: str  # pass or fail
    items: tuple[tuple[str, str, str], ...] = ()  # (item, outcome, message)
    at: datetime | None = None
    loaded: str | None = None


# --- what we remember ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Instance:
    """One launch of the run."""

    name: str
    number: int
    job: str
    plan_digest: str
    output_root: str
    started: datetime
    commit: str
    babysitter: str = ""
    temporary_root: str | None = None
    intended: datetime | None = None  # no row of it can be older than that

    @property
    def roots(self) -> tuple[str, ...]:
        return tuple(root.rstrip("/") for root in (self.output_root, self.temporary_root) if root)


@dataclass(frozen=True)
class Unfinished:
    """Actions that were intended and whose outcome nobody knows, as `key: what`."""

    actions: tuple[str, ...] = ()
    since: datetime | None = None


@dataclass(frozen=True)
class History:
    """What the record knows of the run."""

    initialised: bool = False
    instances: tuple[Instance, ...] = ()
    sealed: str | None = None  # the tag
    checked_in: frozenset[str] = frozenset()
    open_alerts: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    foreign: frozenset[str] = frozenset()  # checkpoints in the roots that no instance of this run wrote

    @property
    def current(self) -> Instance | None:
        return self.instances[-1] if self.instances else None

    def wrote(self, metrics: Metrics) -> bool:
        """Whether the newest row is the current instance's. Until its first row, what is there is older."""
        current = self.current
        return current is not None and metrics.advanced_at >= (current.intended or current.started)


@dataclass(frozen=True)
class Judged:
    """What a fresh look at the run's health found, above INFO and before anybody acts on it: (which, what it says)."""

    alerts: tuple[tuple[str, str], ...] = ()  # they fire, or fail now and would fire in time
    unseen: tuple[tuple[str, str], ...] = ()  # checks without an answer


@dataclass(frozen=True)
class RecordState:
    """Where the durable record stands."""

    commit: str | None  # None: it has not been started
    pushed: str | None  # the remote's tip; None: not there
    remote: str | None = None  # None: there is no remote


@dataclass(frozen=True)
class Cadence:
    every: timedelta
