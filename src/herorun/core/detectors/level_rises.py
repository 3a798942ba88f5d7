"""Rises of the newest rows above the highest of those before, which add up to a new level: see
`windows`.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from herorun.core.detectors.first_rises import NEAR_ZERO
from herorun.core.detectors.loss_state import LevelRise, LossState
from herorun.core.lazy_statistics import median


class Comparison(NamedTuple):
    """A comparison of the newest rows with so many rows before them."""

    rows: int
    ranges: float  # times the range of those rows that the evidence must be ...
    first: float  # ... and among the first rows, where those before are calm
    outliers: int = 0  # of those rows: may be above the newest ones, and are not part of the range
    lag: int = 0  # rows between
    within: int = 1  # times the rows before, in which the evidence must come together
    fallen: bool = False  # only if the loss has fallen before: critics rise by nature


# Of quiet public curves, at five row rates from each row to each tenth, the highest is 5.0, 3.7,
# 13.7, 38 and 24 times the range, for critics and generators; no clean curve comes near. Among the
# first rows there are fewer chances: there it is 11.5 for a generator, and nothing for the others.
COMPARISONS = (
    Comparison(30, 6.0, 6.0, outliers=1),
    Comparison(30, 6.0, 6.0, outliers=1, lag=30, within=2, fallen=True),
    Comparison(20, 15.0, 8.0),
    Comparison(12, 45.0, 10.0, within=2),
    Comparison(8, 40.0, 15.0),
)
FIRST, CALM_RANGE = 80, 1.5  # rows; times the lowest of the rows before that the highest may be
AREA = 1.0  # the least evidence: the sum of logarithms above the highest row before
ABOVE = 1.15  # times the highest row before: where a rise begins, and its mean at least
MISSES = 1  # consecutive rows not above it that do not end a rise
MAX_RATIO = 3.0  # times the lowest of the rows before that the highest may be, near a loss of zero
FALL_RATIO = 1.25  # times that a loss must have fallen since its first rows
ROWS, HIGHER = 3, 1.22  # rows of a rise, and their mean above the usual, at least
MIN_RANGE = 0.01  # range of the rows before, as a logarithm

# of each lag, the fewest rows before that a comparison needs
_MIN_WINDOWS = tuple(
    (lag, lag + min(each.rows for each in COMPARISONS if each.lag == lag))
    for lag in {each.lag: None for each in COMPARISONS}
)
assert max(each.outliers for each in COMPARISONS) < 2

MIN_RISE, MIN_FALL = math.log(ABOVE), math.log(FALL_RATIO)
_CALM_RANGE, _HIGHER = math.log(CALM_RANGE), math.log(HIGHER)
_MAX_RATIO, _NEAR_ZERO = math.log(MAX_RATIO), math.log(NEAR_ZERO)
RULES = (
    *(value for comparison in COMPARISONS for value in comparison),
    FIRST, CALM_RANGE, AREA, ABOVE, MISSES, MAX_RATIO, FALL_RATIO, ROWS, HIGHER, MIN_RANGE,
)  # fmt: skip


def begins(before: Sequence[float], y: float) -> list[int]:
    """The comparisons in which this row is above those before."""
    numbers: list[int] = []
    mark = y - MIN_RISE
    # Two higher rows rule out all comparisons, and nearly all rows have them.
    for lag, least in _MIN_WINDOWS:
        if len(before) >= least and (before[-lag - 1] < mark or before[-lag - 2] < mark):
            break
    else:
        return numbers
    for number, comparison in enumerate(COMPARISONS):
        rows, _, _, outliers, lag, *_ = comparison
        if len(before) < rows + lag:
            continue
        newest = len(before) - lag - 1
        if not outliers and before[newest] >= mark:
            continue
        higher = 0
        for place in range(newest, newest - rows, -1):
            if before[place] >= mark:
                higher += 1
                if higher > outliers:
                    break
        else:
            numbers.append(number)
    return numbers


def new_rise(state: LossState, number: int, y: float) -> LevelRise | None:
    """A new rise; None if the earlier rows do not show what is usual."""
    rows, ranges, first, outliers, lag, _, needs_fall = COMPARISONS[number]
    end = len(state.recent) - lag
    before = sorted(state.recent[end - rows : end])
    usual = median(before)
    if len(set(before)) <= rows // 2:
        return None  # rounded to equal values, they have no usable range
    spread = before[-1 - outliers] - before[outliers]
    if spread > _MAX_RATIO and usual < _NEAR_ZERO:
        return None
    if needs_fall and usual > median(state.opening) - MIN_FALL:
        return None
    highest = before[-1 - outliers]
    spread = max(spread, MIN_RANGE)
    is_first = state.trend.rows <= FIRST and spread < _CALM_RANGE
    needed_area = max(AREA, (first if is_first else ranges) * spread)
    return LevelRise(
        comparison=number,
        highest=highest,
        needed=needed_area,
        usual=usual,
        rows=1,
        total=y - highest,
        top=y - highest,
    )


def continued_rise(rise: LevelRise, y: float) -> LevelRise | None:
    """The rise with one more row; None if it is over, or takes too long."""
    excess = y - rise.highest
    misses = 0 if excess > 0.0 else rise.misses + 1
    rows, total = rise.rows + 1, rise.total + excess
    comparison = COMPARISONS[rise.comparison]
    if misses > MISSES or total <= 0.0 or rows > comparison.within * comparison.rows:
        return None
    return replace(rise, rows=rows, total=total, top=max(rise.top, excess), misses=misses)


def is_sure(rise: LevelRise) -> bool:
    """Whether the rise's rows, without the highest, are enough evidence."""
    rows = rise.rows
    if rows < ROWS or rise.misses:
        return False
    mean = (rise.total - rise.top) / (rows - 1)
    is_high = mean > MIN_RISE and rise.highest + mean > rise.usual + _HIGHER
    return is_high and rows * mean > rise.needed
