"""A run in one line of a table: its worst problem, its progress, and the trend of its loss.
Pure.
"""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_statistics import median

if TYPE_CHECKING:
    from herorun.core.health.training_proof import AwaitedEvidence

BLOCKS = "▁▂▃▄▅▆▇█"
NOT_FINITE = "×"
WIDTH = 24  # cells of a curve
SPEED_ROWS = 20  # rows whose median is the speed now


@dataclass(frozen=True)
class Pace:
    """How fast it goes: `now` and `usual` in the metric's own unit, or seconds a step."""

    name: str  # of the metric, or "s/step"
    now: float
    usual: float | None = None  # the usual value of the same attempt before
    step_seconds: float | None = None

    @property
    def ratio(self) -> float | None:
        """The speed relative to the usual one: below 1 is slower, whichever way it is counted."""
        if not self.usual or not self.now:
            return None
        return self.usual / self.now if self.name == "s/step" else self.now / self.usual


@dataclass(frozen=True)
class OpenAlert:
    check: str
    severity: str
    state: str
    message: str


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """One run, as it was seen at `seen`; what is unknown is None."""

    slug: str
    stage: str  # not initialised, initialised, launched, sealed
    run: str = "unknown"
    monitor: str = "fresh"
    step: int | None = None
    final_step: int | None = None
    loss: float | None = None
    curve: str = ""
    pace: Pace | None = None
    rows_read_at: datetime | None = None  # of loss and pace, if they were not read at `seen_at`
    checkpoint_step: int | None = None
    checkpoint_age: float | None = None  # seconds
    alerts: tuple[OpenAlert, ...] = ()
    awaited: "tuple[AwaitedEvidence, ...]" = ()  # evidence that is missing
    next_tick: datetime | None = None
    quiet: float | None = None  # seconds since the step last rose
    seen_at: datetime | None = None
    error: str = ""

    @property
    def rank(self) -> int:
        """The worst first: down, unreadable, critical, not monitored, degraded, starting, healthy,
        not begun, over.
        """
        firing = {alert.severity for alert in self.alerts if alert.state == "firing"}
        if self.error:
            return 1
        if self.stage != "launched":
            return 8 if self.stage == "sealed" else 7
        if self.run == "down" or "critical" in firing:
            return 0 if self.run == "down" else 2
        if self.run == "unknown" or self.monitor != "fresh":
            return 3
        if self.run == "degraded" or "warn" in firing:
            return 4
        return {"starting": 5, "finished": 8}.get(self.run, 6)

    @property
    def done_share(self) -> float | None:
        """The share of the run that is done, from 0 to 1."""
        if self.step is None or not self.final_step:
            return None
        return min(1.0, max(0.0, self.step / self.final_step))

    @property
    def time_left(self) -> timedelta | None:
        """Until the final step at the pace of now, stops apart; None where either is unknown or no
        steps are made.
        """
        pace = self.pace.step_seconds if self.pace else None
        if self.run not in ("healthy", "degraded") or None in (self.step, self.final_step, pace):
            return None
        if self.stands_still:
            return None
        assert self.step is not None and self.final_step is not None and pace is not None
        try:
            return timedelta(seconds=max(0, self.final_step - self.step) * pace)
        except OverflowError:
            return None

    @property
    def stands_still(self) -> bool:
        """As a report's estimate goes by it: an alert says so, or no step came for long."""
        from herorun.core.goodput.instances import STALLS
        from herorun.core.goodput.timeline import SLOW
        from herorun.core.report.eta import PATIENCE

        is_stalled = any(alert.state == "firing" and alert.check in STALLS for alert in self.alerts)
        pace = self.pace.step_seconds if self.pace else None
        longest = max(SLOW * (pace or 0.0), PATIENCE.total_seconds())
        return is_stalled or (self.quiet is not None and self.quiet > longest)


def worst_first(run_summaries: Sequence[RunSummary]) -> list[RunSummary]:
    return sorted(run_summaries, key=lambda summary: (summary.rank, summary.slug))


def sparkline(values: Sequence[float]) -> str:
    """A curve in `WIDTH` cells at most. A cell shows the highest value in it, so that one spike
    stays in sight.

    >>> sparkline([4, 3, 2, 1])
    '█▆▃▁'
    >>> sparkline([1, 1, float("nan"), 1])
    '▁▁×▁'
    """
    if not values:
        return ""
    cells = min(WIDTH, len(values))
    bounds = [len(values) * cell // cells for cell in range(cells + 1)]
    parts = [values[first:last] for first, last in pairwise(bounds)]
    tops = [max(part) if all(map(math.isfinite, part)) else math.nan for part in parts]
    finite = [top for top in tops if not math.isnan(top)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
    return "".join(NOT_FINITE if math.isnan(top) else _block(top, low, high) for top in tops)


def shrunk(curve: str, width: int) -> str:
    """The same curve in fewer cells, each with the highest of those that it stands for.

    >>> shrunk("▁▁▁█▁▁▁▁", 4)
    '▁█▁▁'
    """
    if len(curve) <= width:
        return curve
    bounds = [len(curve) * cell // width for cell in range(width + 1)]
    parts = [curve[first:last] for first, last in pairwise(bounds)]
    return "".join(NOT_FINITE if NOT_FINITE in part else max(part) for part in parts)


def _block(value: float, low: float, high: float) -> str:
    share = (value - low) / (high - low) if high > low and math.isfinite(high - low) else 0.0
    return BLOCKS[round(share * (len(BLOCKS) - 1))]


def pace_of(name: str, values: Sequence[float], times: Sequence[tuple[int, float]]) -> Pace | None:
    """From the metric's newest values, finite ones alone, and from the rows' steps and times in
    seconds; either may be empty.
    """
    samples = [value for value in values if math.isfinite(value) and value > 0]
    gaps = [
        (b - a) / (then - step) for (step, a), (then, b) in pairwise(times) if b > a and then > step
    ]
    step_seconds = median(gaps[-SPEED_ROWS:]) if gaps else None
    if not samples:
        samples, name = gaps, "s/step"
    if not samples:
        return None
    before = samples[:-SPEED_ROWS]
    now = median(samples[-SPEED_ROWS:])
    return Pace(
        name, now, median(before) if before else None, now if name == "s/step" else step_seconds
    )
