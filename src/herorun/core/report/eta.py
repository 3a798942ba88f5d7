"""The estimated end of a run, as a range: from its recent pace and from its pace with all
interruptions.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from herorun.core.durations import format_span
from herorun.core.goodput.states import SECOND
from herorun.core.goodput.timeline import SLOW, Beat
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_statistics import median

WINDOWS = (timedelta(hours=1), timedelta(hours=6), timedelta(days=1), timedelta(days=7))
ENOUGH = 5  # rows that advance, for a pace
PATIENCE = timedelta(minutes=10)  # without a new row: an evaluation or a save may take as long


@dataclass(frozen=True)
class Eta:
    """When it will be done, at the earliest and at the latest; both None where it is unknown, and
    `why`.
    """

    earliest: datetime | None
    latest: datetime | None
    why: str  # what it goes by, or why there is none

    @property
    def text(self) -> str:
        if self.earliest is None or self.latest is None:
            return self.why
        first, last = f"{self.earliest:%Y-%m-%d %H:%M}", f"{self.latest:%Y-%m-%d %H:%M}"
        return f"{first} UTC" if first == last else f"{first} to {last} UTC"


def eta(beats: Sequence[Beat], final_step: int | None, now: datetime, idle: str = "") -> Eta:
    """`beats` in the order of their times; `idle` is the text instead if the run is known not to
    train.

    The paces are the net gain of steps, restarts and all, over the last hour, 6 hours, day, week
    and the whole run, if it is that old. The range is from the fastest of them to the slowest.
    """
    if final_step is None:
        return Eta(None, None, "unknown: the final step is not known")
    last_step = max((beat.step for beat in beats), default=0)
    if beats and last_step >= final_step:
        return Eta(None, None, "none: all steps are done")
    if idle:
        return Eta(None, None, idle)
    rises = _rises(beats)
    if len(rises) < ENOUGH:
        return Eta(
            None,
            None,
            f"unknown: an estimate needs {ENOUGH} steps with a time, and there are {len(rises)}",
        )
    at = round(now.timestamp() * SECOND)
    silent = at - rises[-1][0]
    usual = median(after[0] - before[0] for before, after in pairwise(rises))
    if silent > max(SLOW * usual, PATIENCE.total_seconds() * SECOND):
        return Eta(None, None, f"none: no step for {format_span(silent / SECOND)}")
    paces = _paces(rises, at)
    if not paces:
        return Eta(None, None, "unknown: no pace is known yet")
    remaining = final_step - last_step
    earliest, latest = (
        now + timedelta(microseconds=remaining * pace) for pace in (min(paces), max(paces))
    )
    return Eta(
        earliest,
        latest,
        f"{remaining:,} {'step is' if remaining == 1 else 'steps are'} left; "
        f"{_format_paces(len(paces))}",
    )


def _format_paces(paces: int) -> str:
    return (
        "at the one pace so far"
        if paces == 1
        else f"from the fastest to the slowest of {paces} paces"
    )


def _rises(beats: Sequence[Beat]) -> list[tuple[int, int]]:
    """Times at which the run got further than ever, and how far."""
    rises: list[tuple[int, int]] = []
    for beat in beats:
        if not rises or beat.step > rises[-1][1]:
            rises.append((beat.at, beat.step))
    return rises


def _paces(rises: Sequence[tuple[int, int]], now: int) -> list[float]:
    """Microseconds a step, of each window that has begun by now, and of the whole."""
    first = rises[0][0]
    window_starts = [now - round(window.total_seconds() * SECOND) for window in WINDOWS]
    paces = []
    for start in [*(start for start in window_starts if start > first), first]:
        inside = [rise for rise in rises if rise[0] >= start]
        if len(inside) >= ENOUGH:
            gain = inside[-1][1] - inside[0][1]
            paces.append((now - inside[0][0]) / gain)
    return paces
