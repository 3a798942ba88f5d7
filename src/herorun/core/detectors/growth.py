"""Metrics that are known to grow before a loss diverges: block by block, linearly or faster.

The mean of each block must rise at least nearly as much as the one before it, and by more than the
noise; a metric that saturates is ignored. Blocks have 25, 100, 400 and 1,600 rows, because growth
may take hours or days. While the learning rate rises, such metrics rise with it. Sources: QK-Clip
of Kimi K2 for attention logits; Wortsman et al. 2023 for the RMS of g^2/v.
"""

import math
from dataclasses import field
from itertools import pairwise

from herorun.core.detectors.excursion import ExcursionWatch
from herorun.core.evidence import Excursion
from herorun.core.lazy_dataclass import dataclass

BLOCK = 25  # rows of the smallest block
MAX_SQUARE = 1e300  # largest square of a difference: that of 1e155 overflows
WIDER = 4  # blocks that form one of the next scale
SCALES = 4
BLOCKS = 5  # means that are compared
STEADY = 0.7  # a rise must be at least this part of the rise before
NOISES = 6.0  # standard errors of a block's mean that the whole rise must exceed
GROWTH_RATIO, FELL = 1.5, 0.75  # times the first of these means, upwards and downwards
GROWS_ON, FALLS_ON = 1.1, 0.9  # the same, for a growth that has begun
RULES = (BLOCK, WIDER, SCALES, BLOCKS, STEADY, NOISES, GROWTH_RATIO, FELL, GROWS_ON, FALLS_ON)


@dataclass(slots=True)
class Scale:
    """The block under way, and the means of those before it."""

    parts: int = 0  # rows, or blocks of the scale below
    total: float = 0.0
    means: list[float] = field(default_factory=list)


@dataclass(slots=True)
class DifferenceGrowth:
    squares: float = 0.0  # the recent mean square of the differences from row to row
    before: float | None = None  # the value before
    scales: dict[int, Scale] = field(default_factory=dict)
    at: int = 0  # the scale that shows the growth
    growing: ExcursionWatch = field(default_factory=ExcursionWatch)

    def excursions(self, metric: str) -> list[Excursion]:
        return self.growing.excursions("growth", metric)


def restart(state: DifferenceGrowth) -> None:
    """Discard the blocks: the rise so far is explained."""
    state.scales, state.before = {}, None


def judge_growth(
    state: DifferenceGrowth, metric: str, step: int, value: float, up: bool, is_declared: bool
) -> None:
    """Add a value. `up`: whether a rise (or else a fall) precedes an instability."""
    if state.before is not None:
        move = value - state.before
        state.squares += (min(move * move, MAX_SQUARE) - state.squares) / BLOCK
    state.before = value
    parts, size = BLOCK, 1
    for place in range(SCALES):
        scale = state.scales.setdefault(place, Scale())
        scale.parts, scale.total = scale.parts + 1, scale.total + value
        if scale.parts < parts:
            return
        value, size = scale.total / parts, size * parts
        scale.means = [*scale.means, value][-BLOCKS:]
        scale.parts, scale.total = 0, 0.0
        # the variance of differences from row to row is twice that of a row
        error = math.sqrt(state.squares / 2 / size)
        goes_on = state.growing.streak is not None and place == state.at
        on = grows(scale.means, error, up, goes_on)
        _weigh(state, metric, place, step, rows=size, on=on, is_declared=is_declared)
        parts = WIDER


def _weigh(
    state: DifferenceGrowth,
    metric: str,
    place: int,
    step: int,
    *,
    rows: int,
    on: bool,
    is_declared: bool,
) -> None:
    open_now = state.growing.streak is not None
    means = state.scales[place].means
    if on and (not open_now or place == state.at):
        state.at = place
        first = means[0]
        growth = state.growing
        growth.extend(step, math.log(means[-1] / first), first, 0.0, is_declared).rows += rows - 1
    elif open_now and place == state.at:
        state.growing.within("growth", metric, 0)


def grows(means: list[float], error: float, up: bool, goes_on: bool = False) -> bool:
    """Whether these means move in one direction, linearly or faster, and far enough."""
    first, last = means[0], means[-1]
    if len(means) < BLOCKS or min(means) <= 0.0:
        return False
    rise, fell = (GROWS_ON, FALLS_ON) if goes_on else (GROWTH_RATIO, FELL)
    if last < rise * first if up else last > fell * first:
        return False
    sign = 1.0 if up else -1.0
    rises = [sign * (after - before) for before, after in pairwise(means)]
    if min(rises) <= 0.0 or sum(rises) <= NOISES * error:
        return False
    return all(after >= STEADY * before - error for before, after in pairwise(rises))
