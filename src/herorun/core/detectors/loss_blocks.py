"""The loss detectors' rules for a block of rows in whose range no rule but those of the smoothed
levels can fire.

The rules that compare rows with the rows before them need no smoothed level, so they are ruled out
for the whole block: by its highest and lowest row, or for all of its rows at once. The loop over
the rows then only smooths. Its sums are those of `steady`, in the same order.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import compress, count, repeat
from operator import eq, gt, lt, sub

from herorun.core.detectors import level_rises, loss, restart_from_scratch, windows
from herorun.core.detectors.baseline import CLIP, FLOOR, FOLLOW, LAG, RATE
from herorun.core.detectors.loss_state import LossState
from herorun.core.detectors.windows import MANY, MANY_BEFORE, NEW_ROWS, WINDOW

ROWS = 512  # of a block, at most
TURN = 1.2533  # ratio of a standard deviation to a mean deviation, as in `Trend.learn`
_SAFE = 0.99  # times a limit: below it no rounding matters
_LAGS = tuple(
    lag + more for lag in {each.lag: None for each in level_rises.COMPARISONS} for more in (1, 2)
)
_APART = MANY + 10  # rows between the pairs of `windows.may_have_moved_up`


def follow_block(
    state: LossState, steps: Sequence[int], losses: Sequence[float], first: int, end: int
) -> int:
    """Follow rows from `first` on, `end` at most. Returns the index of the first row that is not
    followed; `first` if the rules may fire in this block.
    """
    values = losses[first:end]
    if not _may_smooth(state, values):
        return first
    ys = list(map(math.log, values))
    if not _in_range(state, ys):
        return first
    rows = [*state.recent, *ys]
    number = _smooth(state, ys[: _ruled_out(state, rows, len(ys))])
    if number:
        _store(state, steps[first : first + number], values[number - 1], rows, ys[:number])
    return first + number


def _may_smooth(state: LossState, values: Sequence[float]) -> bool:
    """Whether each loss is above zero and not that of a saturated output, no loss equals the one
    before it, and there are rows to compare with.
    """
    if len(state.recent) < MANY + MANY_BEFORE or min(values) <= 0.0:
        return False
    if max(values) >= loss.SATURATED_LOSS - 2 * loss.SATURATED_WITHIN:
        return False
    return values[0] != state.newest and not any(map(eq, values[1:], values))


def _in_range(state: LossState, ys: Sequence[float]) -> bool:
    """Whether the rows lie so close together that none is a spike, a leap or the opening again. The
    smoothed levels never leave the range of the rows.
    """
    lowest, highest = min(ys), max(ys)
    level = min(lowest, state.trend.level, *state.recent)
    if max(highest, *state.recent) - level >= _SAFE * min(loss._HIGH, windows.MIN_LEAP):
        return False
    near = restart_from_scratch.ALIKE / _SAFE
    opening, fall = state.opening[0], _SAFE * restart_from_scratch._FORGOTTEN_RATIO
    is_opening_far = highest < opening - near or lowest > opening + near
    return is_opening_far or highest - min(level, state.lowest, state.smooth) < fall


def _ruled_out(state: LossState, rows: Sequence[float], size: int) -> int:
    """How many of the newest rows come before one that may begin a rise or a raised level."""
    first = len(rows) - size
    highest, lowest = max(rows[first:]), min(rows)
    if highest - lowest >= _SAFE * level_rises.MIN_RISE:
        size = next(_rises(rows, first), size)
        rows = rows[: first + size]
    return next(_moves(state, rows, first), size)


def _rises(rows: Sequence[float], first: int) -> Iterator[int]:
    """The rows at which `level_rises.begins`, counted from `first`."""
    marks = list(map(sub, rows[first:], repeat(level_rises.MIN_RISE)))
    places = {
        place for lag in _LAGS for place in compress(count(), map(lt, rows[first - lag :], marks))
    }
    for place in sorted(places):
        at = first + place
        if level_rises.begins(rows[max(at - WINDOW, 0) : at], rows[at]):
            yield place


def _moves(state: LossState, rows: Sequence[float], first: int) -> Iterator[int]:
    """The rows with which `windows.has_moved_up`, counted from `first`."""
    # a byte for each row from `_APART` on: above the one so many rows earlier
    above = int.from_bytes(bytes(map(gt, rows[_APART:], rows)), "little")
    both = above & above << 8 * 10
    both &= both << 8 * 20
    may_have_moved = both.to_bytes(len(rows), "little")
    place = may_have_moved.find(1, first - _APART)
    while place >= 0:
        at = place + _APART
        if windows.has_moved_up(rows[at + 1 - MANY - MANY_BEFORE : at + 1], state.opening):
            yield at - first
        place = may_have_moved.find(1, place + 1)


def _smooth(state: LossState, ys: Sequence[float]) -> int:
    """Follow rows until a smoothed level shows something. Returns their number."""
    trend = state.trend
    level, scale, below, number = trend.level, trend.scale, trend.below, 0
    smooth, low, lowest = state.smooth, state.low, state.lowest
    wobble, before = state.wobble, state.before
    elevated_excess, drift, relapse = loss._ELEVATED_RATIO, loss._DRIFT, loss.REGRESSION_RATIO
    elevated_noise, drift_noise, farthest = loss.ELEVATED_NOISE, loss.DRIFT_NOISE, loss.MAX_MOVE
    for y in ys:
        excess = y - level
        if excess < 0.0:
            away, under = -excess, below + 1
        else:
            away, under = excess, 0
        widest = CLIP * scale
        rate = RATE if under <= LAG else FOLLOW
        if away < widest:
            center, noise = level + rate * excess, scale + rate * (TURN * away - scale)
        else:
            center = level + rate * (widest if excess > 0.0 else -widest)
            noise = scale + rate * (TURN * widest - scale)
        if noise <= FLOOR:
            noise = FLOOR
        move, widest = y - smooth, farthest * noise
        if not -widest <= move <= widest:
            move = widest if move > 0.0 else -widest
        next_smooth = smooth + RATE * move
        least = next_smooth if next_smooth < low else low
        bottom = next_smooth if next_smooth < lowest else lowest
        excess, rise = y - center, next_smooth - least
        if (
            next_smooth > bottom + relapse
            or (excess > elevated_excess and excess > elevated_noise * noise)
            or (rise > drift and rise > drift_noise * noise)
        ):
            break
        move, widest = abs(y - before), CLIP * wobble + FLOOR
        wobble = wobble + RATE * ((move if move < widest else widest) - wobble)
        level, scale, below, before = center, noise, under, y
        smooth, low, lowest, number = next_smooth, least, bottom, number + 1
    trend.level, trend.scale, trend.below = level, scale, below
    trend.rows += number
    state.smooth, state.low, state.lowest = smooth, low, lowest
    state.wobble, state.before = wobble, before
    return number


def _store(
    state: LossState,
    steps: Sequence[int],
    newest: float,
    rows: Sequence[float],
    ys: Sequence[float],
) -> None:
    """Store in the state what needs no loop over the rows; `rows` are those of before and `ys`."""
    if not state.descended:
        fall = state.opening[-1] - restart_from_scratch._FORGOTTEN_RATIO
        place = next(compress(count(1), map(lt, ys, repeat(fall))), None)
        state.descended, state.descent = place is not None, state.descent + (place or len(ys))
    first = len(state.recent)
    end = first + len(ys)
    for place in range(max(first, end - NEW_ROWS), end):
        state.above = (state.above << 1 | (rows[place] > rows[place - NEW_ROWS])) & windows.ALL_NEW
    state.changes += len(ys)
    state.positive = state.newest = newest
    state.last_step = steps[-1]
    state.recent = [*rows[max(end - WINDOW, 0) : end]]
    state.recent_steps = [*state.recent_steps, *steps][-WINDOW:]
