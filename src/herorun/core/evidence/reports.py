"""What the running job reports: its metrics and its receipts."""

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True, kw_only=True)
class Excursion:
    """A stretch of rows in which a curve left its expected range."""

    metric: str
    first_step: int
    last_step: int
    rows: int
    peak: float  # the largest ratio to the expected value; infinite for a non-finite value
    expected: float
    open: bool  # whether the newest row is still in the excursion
    kind: str = ""  # which fold saw it: spike, drift, slow, ...; see `core.detectors`
    typical: float | None = None  # the geometric mean of the ratios to the expected value
    noise: float = 0.0  # of the curve before it, as a logarithm
    declared: bool = False  # it began within a declared phase's first rows
    # open, and its newest value is within bounds again: one alone does not end it
    back: bool = False
    # of a rate, which is judged by its inverse: there a higher ratio is a lower value
    inverse: bool = False
    seconds: float | None = None  # that its rows took, if step times or clocks show it
    # the highest mean ratio that its rows had so far; None: they are too few for a mean
    crest: float | None = None
    # the highest so far of such a mean's logarithm times the root of its rows
    stood: float | None = None

    @property
    def steps(self) -> int:
        return self.last_step - self.first_step + 1

    @property
    def usual(self) -> float:
        """The ratio that it holds, as against the one that it once reached."""
        return self.peak if self.typical is None else self.typical

    @property
    def height(self) -> float:
        """The highest mean ratio so far, which does not depend on the row at which it is read."""
        return self.usual if self.crest is None else self.crest

    @property
    def sigmas(self) -> float:
        """How far its mean stood out of the noise, at most; infinite where there is no noise."""
        if self.noise <= 0 or self.usual <= 0:
            return math.inf
        if self.stood is not None:
            return self.stood / self.noise
        return math.log(max(self.usual, 1 / self.usual)) * math.sqrt(self.rows) / self.noise


@dataclass(frozen=True, kw_only=True)
class Resume:
    """How the newest attempt continues the one before it, by the loss. Steps are completed
    updates.
    """

    step: int  # the first of the new attempt
    high_water: int  # the last of those before it
    compared: int = 0  # rows at steps that both attempts logged
    early: tuple[float, ...] = ()  # new minus old, of the first five such rows
    median: float = 0.0  # of the absolute differences
    worst: float = 0.0  # the largest difference, with its sign
    worst_step: int = 0
    worst_new: float | None = None  # the loss there, after the resume
    first_bad_step: int | None = None  # the first that differs by more than 0.002
    after: int = 0  # rows averaged behind the high water, once 50 rows of warm-up are over
    offset: float = 0.0  # their mean distance from the trend at the resume, as a logarithm
    noise: float = 0.0  # of the curve before the resume
    # what the loss was to fall by meanwhile, as a logarithm; None: too few rows to tell
    fall: float | None = 0.0
    # the step count began again and the loss did not: another way of counting
    counter_reset: bool = False
    rate_before: float | None = None  # the learning rate that was to be expected at that step
    rate_after: float | None = None
    rate_exact: bool = False  # it was logged at the very same step before
    instance: str = ""  # that was resumed, by the record; empty where that does not say
    shift: float = 0.0  # the mean of new to old at equal steps, as a logarithm
    level: float = 0.0  # of the loss before the resume; 0: too few rows to tell
    broken: bool = False  # rows are missing behind it: what comes after the gap is not compared

    @property
    def has_overlap(self) -> bool:
        return self.compared > 0


@dataclass(frozen=True)
class Presence:
    """How regularly a watched metric is reported."""

    metric: str
    rows: int  # since it was last there, or since the first row
    longest: int = 0  # the longest gap between two reports, in rows
    seen: bool = True


@dataclass(frozen=True)
class UnjudgedMetric:
    """A metric that some checks cannot judge yet; until then their silence proves nothing."""

    metric: str
    checks: tuple[str, ...]
    reason: str
    until_row: int | None  # at the earliest, counted from 1; None: their values decide

    @property
    def message(self) -> str:
        before = "" if self.until_row is None else f", so not judged before row {self.until_row}"
        return f"{self.reason}{before}"


@dataclass(frozen=True)
class LeastLoss:
    """How far the loss has come down since the first row: single rows count as long as it may be at
    its beginning, and a smoothed level later.
    """

    lowest: float
    rows: int  # judged so far
    # steps since the learning rate last rose; None: not logged, or zero
    rate_held: int | None = None


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """The tracker's rows, reduced. `step` counts completed updates of the current instance."""

    step: int
    rows: int
    advanced_at: datetime  # when the step last rose, by our clock as it is set now
    leap: timedelta = timedelta()  # how far our clock was set since then
    first_step: int = 0  # of the current attempt
    high_water: int = 0  # the highest step of any attempt
    attempts: int = 1
    # The newest row was there at the first query, and its time is unknown:
    # `advanced_at` is that query's time, and proves no training.
    undated: bool = False
    last: Mapping[str, float] | None = None
    spikes: tuple[Excursion, ...] = ()
    non_finite: tuple[Excursion, ...] = ()
    problems: tuple[str, ...] = ()  # lines that could not be read
    # of every other kind, open ones and those that ended since
    excursions: tuple[Excursion, ...] = ()
    resume: Resume | None = None  # None while there was one attempt only
    presence: tuple[Presence, ...] = ()
    late: int = 0  # rows that came too late to be judged, or twice
    # seconds that the newest rows were dated before a query that did not show them yet
    behind: float = 0.0
    # seconds that rows stay away again and again; None if they have no times
    pause: float | None = None
    instance: str = ""  # that wrote the newest row, by the record; empty where that does not say
    lost: tuple[tuple[int, int], ...] = ()  # the steps of the rows around each gap, the newest ones
    stride: float = 0.0  # usual steps between two rows; 0: there was only one
    opening: tuple[float, ...] = ()  # the losses of the run's first rows
    least: LeastLoss | None = None  # None: the rows do not show it
    unjudged: tuple[UnjudgedMetric, ...] = ()
    first_logged: int = 1  # the step that the log gives the first update
    rival: str = ""  # a column with the loss of one of two models trained against each other

    def logged_step(self, step: int) -> int:
        """The log's own number of a step, which people find in its rows."""
        return step - 1 + self.first_logged

    def name_step(self, step: int) -> str:
        """`1500 (update 1501)`: the log's own number, and the one in an alert's subject."""
        number = self.logged_step(step)
        return f"{number}" if number == step else f"{number} (update {step})"

    def as_logged(self, excursion: Excursion) -> Excursion:
        """With the log's own numbers, for a message."""
        first, last = self.logged_step(excursion.first_step), self.logged_step(excursion.last_step)
        return replace(excursion, first_step=first, last_step=last)

    @property
    def stamped_at(self) -> datetime:
        """When the step last rose, by the clock of that time, as other time stamps of then are."""
        return self.advanced_at - self.leap

    def why_not_judged(self, check: str) -> str:
        """Why a check that finds nothing has not judged yet; empty where it has."""
        return next((each.message for each in self.unjudged if check in each.checks), "")

    def of(self, *kinds: str) -> tuple[Excursion, ...]:
        """The excursions of these kinds."""
        return tuple(excursion for excursion in self.excursions if excursion.kind in kinds)


@dataclass(frozen=True)
class SourceLoss:
    """The loss of the run whose checkpoint this one starts from, from its rows that this machine
    keeps.
    """

    slug: str
    opening: tuple[float, ...] = ()  # of its first rows
    level: float | None = None  # the mean before the checkpoint; None: it has no rows here


@dataclass(frozen=True)
class FinalStep:
    """Completed updates at the end of the run, as the plan resolved it; `source` says from where,
    or why not.
    """

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


@dataclass(frozen=True)
class LateReceipts:
    """Receipts of earlier instances whose check-in the record does not know, newest first."""

    receipts: tuple[Receipt, ...] = ()
    damaged: tuple[tuple[str, str], ...] = ()  # (instance, why its receipt could not be read)
