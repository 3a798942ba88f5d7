"""What the record knows."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from herorun.core.clock_skew import SKEW, ClockJumps
from herorun.core.evidence.base import Evidence, Nothing, Unavailable
from herorun.core.evidence.checkpoints import Checkpoints, GivenUp, Taint
from herorun.core.evidence.jobs import JobState
from herorun.core.evidence.reports import Metrics
from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
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
    intended: datetime | None = None  # none of its rows can be older
    # completed updates that its plan starts from, 0 from scratch; None: unknown
    start: int | None = None
    rows: int = 0  # of the tracker, that the ticks knew when it was launched
    # whether these were all: rows were read when the end of the one before was seen
    counted: bool = False
    # by a clock that was ahead: when that was seen to be set right; `intended` is then the last
    # moment before it was set wrong
    misdated: datetime | None = None

    @property
    def roots(self) -> tuple[str, ...]:
        return tuple(root.rstrip("/") for root in (self.output_root, self.temporary_root) if root)

    @property
    def since(self) -> datetime:
        """When its launch was intended, where that is known."""
        return self.intended or self.started


def with_misdated(
    instances: Sequence[Instance], leaps: ClockJumps, at: datetime
) -> tuple[Instance, ...]:
    """The same after a query at this moment, which may show that a clock was ahead."""
    before = leaps.last_right(at)
    if before is None:
        return tuple(instances)
    return tuple(_put_right(each, before, at) for each in instances)


def _put_right(instance: Instance, before: datetime, at: datetime) -> Instance:
    if instance.since <= at + SKEW:
        return instance
    return replace(instance, intended=before, started=min(instance.started, at), misdated=at)


@dataclass(frozen=True, kw_only=True)
class End:
    """How one instance ended, as the record keeps it."""

    instance: str
    state: JobState
    at: datetime  # when a tick saw it
    exit_code: int | None = None
    signal: str | None = None
    step: int | None = None  # completed updates; None: it wrote no row, or it could not be read
    # newest complete one then; 0: there was none; None: it could not be read
    checkpoint: int | None = None
    fingerprint: str = ""  # of its failure, if the log has one
    failed_on: tuple[str, ...] = ()  # nodes, if the scheduler reports them
    ended: datetime | None = None  # by the scheduler, if it reports it
    # its scheduler no longer listed it when its stop was ordered: how it ended is unknown
    forgotten: bool = False


@dataclass(frozen=True)
class Unfinished:
    """Actions that were intended and whose outcome is unknown, as `key: what`."""

    actions: tuple[str, ...] = ()
    since: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class History:
    """What the record holds about the run."""

    initialised: bool = False
    instances: tuple[Instance, ...] = ()
    sealed: str | None = None  # the tag
    checked_in: frozenset[str] = frozenset()
    starts: tuple[
        tuple[datetime, int], ...
    ] = ()  # of the current instance: when an attempt was first seen, its number
    restarts: tuple[
        tuple[datetime, int], ...
        # of the current instance, by its back end: when it checked in by the job's clock, the
        # attempt's number
    ] = ()
    caveats: tuple[str, ...] = ()
    # checkpoints in the roots that no instance of this run wrote
    foreign: frozenset[str] = frozenset()
    taints: tuple[Taint, ...] = ()  # when it wrote what must not be resumed from
    given_up: tuple[GivenUp, ...] = ()  # by its rollbacks, oldest first
    ends: tuple[End, ...] = ()  # of the instances whose end was seen, oldest first
    most_saved: int = 0  # the most checkpoints that a tick has seen at once
    # the newest step seen in the temporary root since the last launch
    temporary_saved: int | None = None
    last_tick: datetime | None = None  # before this one
    rows: int = 0  # of the tracker, that the ticks so far knew
    last_tick_whole: bool = True  # whether it could read all that it asked for
    began: int | None = None  # the step that the first instance started from; None: unknown
    # checkpoints whose deletion was begun, and is not known to be done
    deleting: frozenset[str] = frozenset()
    # instances that herorun was ordered to stop, and by whom
    stopped: tuple[tuple[str, str], ...] = ()
    lost_output: frozenset[str] = frozenset()  # instances that ended without their output root
    # those of them that ended without their temporary root
    lost_temporary: frozenset[str] = frozenset()
    leaps: ClockJumps = ClockJumps()

    @property
    def current(self) -> Instance | None:
        return self.instances[-1] if self.instances else None

    @property
    def end_by_order(self) -> End | None:
        """The recorded end of the current instance, if its stop was ordered: it stands when the
        scheduler no longer lists the job.
        """
        name = self.current.name if self.current else ""
        by_order = {instance for instance, _ in self.stopped}
        return next((e for e in self.ends if e.instance == name and name in by_order), None)

    @property
    def has_rows(self) -> bool:
        """Whether ticks read rows of the current instance."""
        return self.current is not None and self.rows > self.current.rows

    def wrote(self, metrics: Metrics) -> bool:
        """Whether the newest row is the current instance's. Until its first row, what is there is
        older.

        A row is once its own for good: a clock that is set back later dates the next ones before
        the launch, and they must be judged in the tick that reads them.
        """
        current = self.current
        if current is None:
            return False
        return metrics.instance == current.name or metrics.stamped_at >= (
            current.misdated or current.since
        )

    def is_of_earlier(self, metrics: Metrics) -> bool:
        """Whether an instance before the current one is known to have written the newest row."""
        return any(each.name == metrics.instance for each in self.instances[:-1])

    def has_given_up(self, metrics: Metrics) -> bool:
        """Whether a rollback gave up the newest row."""
        return self.is_of_earlier(metrics) and any(
            each.step < metrics.step for each in self.given_up
        )

    def reached_step(
        self, metrics: Metrics, checkpoints: Checkpoints | Nothing | Unavailable | None
    ) -> int:
        """Completed updates that the current instance keeps: those of the newest row, unless an
        earlier instance wrote it. Then at most those that the current one starts from, and those of
        a checkpoint that it has completed: what an earlier one reached beyond is trained again, or
        was given up by a rollback.
        """
        current = self.current
        if current is None or current.start is None or not self.is_of_earlier(metrics):
            return metrics.step
        newest = checkpoints.newest if isinstance(checkpoints, Checkpoints) else None
        is_own = newest and newest.modified and newest.modified >= current.since
        return max(min(metrics.step, current.start), newest.step if newest and is_own else 0)

    def last_step(self, metrics: Metrics | Nothing, checkpoints: Checkpoints) -> int:
        """The later of what was `reached` and the newest checkpoint; 0 where there is neither."""
        newest = checkpoints.newest.step if checkpoints.newest else 0
        return (
            max(newest, self.reached_step(metrics, checkpoints))
            if isinstance(metrics, Metrics)
            else newest
        )

    def at_tick(self, at: datetime) -> "History":
        """The same for a query at this moment, before the record has it."""
        return replace(self, instances=with_misdated(self.instances, self.leaps, at))


def reached_step(evidence: Evidence) -> int | None:
    """`History.reached` of the tracker's rows; None where no row was read."""
    metrics, history = evidence.get(Metrics), evidence.get(History)
    if not isinstance(metrics, Metrics):
        return None
    if not isinstance(history, History):
        return metrics.step
    return history.reached_step(metrics, evidence.get(Checkpoints))


@dataclass(frozen=True)
class LaunchProof:
    """What the record states about launches and seals that nothing proves: they do not count. One
    sentence each.
    """

    doubts: tuple[str, ...] = ()
    unstated: tuple[
        str, ...
    ] = ()  # of launches that count: what only the record states, so that none is started by it


@dataclass(frozen=True)
class HealthAssessment:
    """What a fresh query of the run's health found, above INFO and before any action:
    (which, what it says).
    """

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
