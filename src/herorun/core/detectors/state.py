"""The state of all detectors: a plain value of fixed size, however long the run."""

from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, TypeVar

from herorun.core.detectors.band import Wander
from herorun.core.detectors.excursion import ExcursionWatch
from herorun.core.detectors.gaps import Steps
from herorun.core.detectors.grad_norm import Norm
from herorun.core.detectors.growth import Growth
from herorun.core.detectors.interleaved_writers import WriterTurns
from herorun.core.detectors.loss_state import LossState
from herorun.core.detectors.nonfinite import SkippedSteps
from herorun.core.detectors.resume_state import Lineage
from herorun.core.detectors.throughput import Pauses, Speed, Wall
from herorun.core.lazy_dataclass import dataclass
from herorun.core.ports import Row

T = TypeVar("T")


@dataclass(slots=True)
class ReportingRhythm:
    """How regularly a metric is reported, in rows."""

    last: int = 0  # the row that it was last in; 0: in none yet
    longest: int = 0


@dataclass(slots=True)
class MetricsState:
    """What the rows so far amount to. Steps are completed updates.

    The newest rows wait in order, to be judged once none can come before them; a summary judges
    them on a copy.
    """

    cursor: str = ""
    rows: int = 0
    late: int = 0
    waiting: list[Row] = field(default_factory=list)  # by step
    instance: str = ""  # that wrote the newest row, by the record; empty where that does not say
    start: int = 1  # which start of that instance wrote it
    attempt: str = ""  # the newest execution
    older: list[str] = field(default_factory=list)  # executions before it
    judged: int = 0  # rows
    begun: bool = False  # whether a row of the newest attempt was judged
    step: int = 0
    first_step: int = 0
    high_water: int = 0
    attempts: int = 0
    advanced_at: datetime | None = None
    polled_at: datetime | None = None  # when the tracker was read last, by our clock
    polled_boot: str = ""  # which start of this machine that was in
    polled_uptime: float | None = None  # and how many seconds after it
    clock_set: bool = False  # whether our clock was set between two looks
    undated: bool = False  # nothing tells when the newest row was written
    behind: float = 0.0  # seconds that the newest rows' clock is behind ours, where that is seen
    last: Mapping[str, float] = field(default_factory=dict)
    rate: float | None = None  # of learning, in the newest row
    rate_rises: bool = False
    # the step at which it last rose, by the rows in which the loss may still be at its beginning
    rate_rose: int | None = None
    since_phase: int = 1_000_000  # rows since a declared phase began
    phases: int = 0  # how many have begun
    loss: LossState = field(default_factory=LossState)
    norms: dict[str, Norm] = field(default_factory=dict)
    speeds: dict[str, Speed] = field(default_factory=dict)
    timed: bool = False  # step times are reported: rates are the same thing told twice
    wanders: dict[str, Wander] = field(default_factory=dict)
    bands: dict[str, ExcursionWatch] = field(default_factory=dict)
    growths: dict[str, Growth] = field(default_factory=dict)
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
    seen: dict[str, ReportingRhythm] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def watches(self) -> list[ExcursionWatch]:
        """Every place where closed excursions wait to be told."""
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
            loss.begun.flat,
            loss.begun.chance,
            loss.begun.above,
            loss.begun.constant,
            loss.begun.repeats.watch,
            loss.rises.watch,
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


def copied(value: T) -> T:
    """A copy that shares nothing that changes: rows, excursions and numbers do not."""
    copy = _copiers[type(value)]
    return copy(value) if copy else value


def _copied_state(value: Any) -> Any:
    """Each look at a run copies some hundred of them."""
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
    """What copies a value of each type; None where it never changes."""

    def __missing__(self, kind: type) -> Callable[[Any], Any] | None:
        params = getattr(kind, "__dataclass_params__", None)
        changes = params is not None and not params.frozen
        of_base = (c for base, c in ((list, list), (dict, _copied_table)) if issubclass(kind, base))
        self[kind] = next(of_base, _copied_state if changes else None)
        return self[kind]


_copiers = _Copiers()
