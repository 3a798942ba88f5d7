"""The state of all detectors: a plain value of fixed size, however long the run."""

from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime, timedelta
from typing import Any, TypeVar

from herorun.core.clock_skew import SKEW
from herorun.core.detectors.band import TrendDeviation
from herorun.core.detectors.excursion import ExcursionWatch
from herorun.core.detectors.gaps import Steps
from herorun.core.detectors.grad_norm import Norm
from herorun.core.detectors.growth import DifferenceGrowth
from herorun.core.detectors.interleaved_writers import WriterTurns
from herorun.core.detectors.loss_state import LossState
from herorun.core.detectors.nonfinite import SkippedSteps
from herorun.core.detectors.resume_state import Lineage
from herorun.core.detectors.throughput import Pauses, Speed, Wall
from herorun.core.evidence import Now
from herorun.core.lazy_dataclass import dataclass
from herorun.core.ports import Row

T = TypeVar("T")
BEHIND = timedelta(minutes=30)  # how late rows may arrive; if more, their clock is wrong
MAX_SLEW = timedelta(seconds=1)  # what NTP may adjust between two reads without setting the clock


@dataclass(slots=True)
class ReportingRhythm:
    """How regularly a metric is reported, in rows."""

    last: int = 0  # the last row with the metric; 0: none yet
    longest: int = 0


@dataclass(slots=True, kw_only=True)
class MetricsState:
    """The state of all detectors after the rows so far. Steps are completed updates.

    The newest rows wait in order, to be judged once none can come before them; a summary judges
    them on a copy.
    """

    cursor: str = ""
    rows: int = 0
    late: int = 0
    waiting: list[Row] = field(default_factory=list)  # by step
    instance: str = ""  # which wrote the newest row, by the record; "" if unknown
    start: int = 1  # which start of that instance wrote the newest row
    attempt: str = ""  # the newest execution
    older: list[str] = field(default_factory=list)  # executions before it
    judged: int = 0  # rows
    has_begun: bool = False  # whether a row of the newest attempt was judged
    step: int = 0
    first_step: int = 0
    high_water: int = 0
    attempts: int = 0
    advanced_at: datetime | None = None
    polled_at: datetime | None = None  # when the tracker was last read, by our clock
    polled_boot: str = ""  # which start of this machine that was in
    polled_uptime: float | None = None  # and how many seconds after it
    clock_set: bool = False  # whether our clock was set between two reads
    leap: float = 0.0  # seconds of such changes that `advanced_at` includes
    undated: bool = False  # the time of the newest row is unknown
    behind: float = 0.0  # seconds that the newest rows' clock is behind ours, if known
    last: Mapping[str, float] = field(default_factory=dict)
    rival: str = ""  # a column with the loss of one of two models trained against each other
    rate: float | None = None  # of learning, in the newest row
    rate_rises: bool = False
    # the step at which it last rose, by the rows in which the loss may still be at its beginning
    rate_rose: int | None = None
    since_phase: int = 1_000_000  # rows since a declared phase began
    phases: int = 0  # how many have begun
    loss: LossState = field(default_factory=LossState)
    norms: dict[str, Norm] = field(default_factory=dict)
    speeds: dict[str, Speed] = field(default_factory=dict)
    timed: bool = False  # step times are reported, so rates are redundant
    wanders: dict[str, TrendDeviation] = field(default_factory=dict)
    bands: dict[str, ExcursionWatch] = field(default_factory=dict)
    growths: dict[str, DifferenceGrowth] = field(default_factory=dict)
    wall: Wall = field(default_factory=Wall)
    pauses: Pauses = field(default_factory=Pauses)
    non_finite: dict[str, ExcursionWatch] = field(default_factory=dict)
    skips: SkippedSteps = field(default_factory=SkippedSteps)
    lineage: Lineage = field(default_factory=Lineage)
    steps: Steps = field(default_factory=Steps)
    # learning rates that were above zero
    rates: dict[str, ExcursionWatch] = field(default_factory=dict)
    # learning rates that have been zero since the first row
    idle_rates: dict[str, ExcursionWatch] = field(default_factory=dict)
    turns: WriterTurns = field(default_factory=WriterTurns)
    rhythms: dict[str, ReportingRhythm] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def watches(self) -> list[ExcursionWatch]:
        """All places with closed excursions that must still be reported."""
        loss = self.loss
        watches = [
            loss.spike,
            loss.elevated,
            loss.drift,
            loss.diverged,
            loss.regressed,
            loss.collapsed,
            loss.emptied,
            loss.untrained,
            loss.frozen,
            loss.shifted,
            loss.raised,
            loss.first_rows.flat,
            loss.first_rows.chance,
            loss.first_rows.above,
            loss.first_rows.constant,
            loss.first_rows.repeats.watch,
            loss.rises.watch,
            loss.signed_level.watch,
            loss.saturated,
            self.wall.slow,
            self.skips.often,
            self.turns.mixed,
            self.turns.doubled,
        ]
        for norm in self.norms.values():
            watches += [norm.explosion, norm.creep, norm.vanished]
        for speed in self.speeds.values():
            watches += [speed.slow, speed.leak]
        watches += [wander.away for wander in self.wanders.values()]
        watches += [growth.growing for growth in self.growths.values()]
        tables = (self.bands, self.non_finite, self.rates, self.idle_rates)
        return [*watches, *(watch for table in tables for watch in table.values())]


def copy_state(value: T) -> T:
    """A copy that shares nothing that changes: rows, excursions and numbers do not."""
    copy = _copiers[type(value)]
    return copy(value) if copy else value


def _copied_state(value: Any) -> Any:
    """Copies a state fast: each evaluation of a run copies some hundred of them."""
    kind = type(value)
    new = object.__new__(kind)
    for name in kind.__dataclass_fields__:
        part = getattr(value, name)
        copy = _copiers[type(part)]
        setattr(new, name, copy(part) if copy else part)
    return new


def _copied_table(value: Mapping[Any, Any]) -> dict[Any, Any]:
    """Tables hold either numbers or states, never both."""
    copy = _copiers[type(next(iter(value.values()), None))]
    if copy is _copied_state:
        return {key: copy(item) for key, item in value.items()}
    return dict(value)


class _Copiers(dict[type, Callable[[Any], Any] | None]):
    """The copy function for each type; None if its values never change."""

    def __missing__(self, kind: type) -> Callable[[Any], Any] | None:
        params = getattr(kind, "__dataclass_params__", None)
        changes = params is not None and not params.frozen
        of_base = (c for base, c in ((list, list), (dict, _copied_table)) if issubclass(kind, base))
        self[kind] = next(of_base, _copied_state if changes else None)
        return self[kind]


_copiers = _Copiers()


# --- when the step last rose ---------------------------------------------------------------------


@dataclass(frozen=True)
class NewRows:
    """The rows of one read: their newest time, and when their file changed."""

    newest: datetime | None = None
    changed_at: datetime | None = None
    restarted: bool = False  # read from the tracker's first row, because it was cut or replaced


@dataclass(frozen=True)
class LastRead:
    """When the tracker was last read, and when its step had last risen by then."""

    at: datetime | None
    boot: str
    uptime: float | None
    advanced_at: datetime | None

    def leap(self, now: Now) -> tuple[datetime | None, timedelta]:
        """The time of that read by the clock that shows `now`, and how far that clock was set
        since. None if unknown.
        """
        if self.at is None:
            return None, timedelta()
        if now.uptime is None or self.uptime is None or self.boot != now.boot:
            return (self.at if self.at <= now.at else None), timedelta()
        before = now.at - timedelta(seconds=now.uptime - self.uptime)
        leap = before - self.at
        return (before, leap) if abs(leap) > MAX_SLEW else (self.at, timedelta())


def last_read(state: MetricsState) -> LastRead:
    return LastRead(state.polled_at, state.polled_boot, state.polled_uptime, state.advanced_at)


def date_rows(state: MetricsState, last: LastRead, now: Now, rows: NewRows) -> None:
    """Set in `state` when its step last rose, by a clock that shows `now`.

    Rows that arrived since the last read were written since then, even if their clock is wrong.
    Without new rows their age grows by the uptime, even if our clock was set. A row dated in the
    future is as old as the read that finds it; in a first read its age is unknown.
    """
    before, leap = last.leap(now)
    state.polled_at, state.polled_boot, state.polled_uptime = now.at, now.boot, now.uptime
    state.clock_set = state.clock_set or bool(leap)
    at = state.advanced_at
    if at is None:
        return
    leaps = timedelta(seconds=state.leap) if at == last.advanced_at else timedelta()
    if rows.restarted:
        # rows that a cut removed had been read before: the run did not stall in their time
        at = max(at, last.advanced_at + leap) if last.advanced_at else at
    elif rows.newest is None and at == last.advanced_at:
        at, leaps = at + leap, leaps + leap
    elif before and leap:
        own = at if at != last.advanced_at else rows.newest or at
        stamp = own + (timedelta() if before <= own <= now.at else leap)
        at = max(stamp, before)
        leaps = at - own
    elif rows.newest is not None:
        delay = before - rows.newest if before else timedelta()
        state.behind = delay.total_seconds() if delay > BEHIND else 0.0
        if before and delay > (SKEW if state.clock_set else BEHIND):
            at = max(at, before, min(rows.changed_at or now.at, now.at))
    if last.at is None and at > now.at + SKEW:
        state.undated = True
    state.advanced_at, state.leap = min(at, now.at), leaps.total_seconds()
