"""The detectors' rules for many rows of one column, in local variables for as long as nothing
happens.

A row that opens or continues an excursion, or comes before the trend is trusted, goes to the rule
for one row. Both give the same state to the last bit: the sums are the same, in the same order.
"""

import math
from collections.abc import Callable, Sequence

from herorun.core.detectors import (
    grad_norm,
    level_rises,
    loss,
    restart_from_scratch,
    throughput,
    windows,
)
from herorun.core.detectors.baseline import CLIP, FLOOR, FOLLOW, LAG, RATE, YOUNG
from herorun.core.detectors.grad_norm import EASE, FAST_RATE, SLOW_RATE, Norm
from herorun.core.detectors.loss import REGRESSION_RATIO
from herorun.core.detectors.loss_blocks import ROWS, TURN, follow_block
from herorun.core.detectors.loss_state import LASTING, LossState
from herorun.core.detectors.throughput import Speed

ONE_BY_ONE = 4  # rows judged singly after one at which something happened
AT_ONCE, SUSTAINED_ROWS = windows.AT_ONCE, windows.SUSTAINED_ROWS
NEW_ROWS, LAG_ROWS = windows.NEW_ROWS, 1 + max(each.lag for each in level_rises.COMPARISONS)


def judge_losses(state: LossState, steps: Sequence[int], losses: Sequence[float]) -> None:
    """`judge_loss` for many rows beyond all steps so far, outside declared phases."""

    unlike = 0  # the end of the newest block whose rows are judged one after the other

    def one(place: int) -> None:
        loss.judge_loss(
            state, steps[place], losses[place], fresh=True, is_declared=False, boundary=False
        )

    def many(place: int) -> int:
        nonlocal unlike
        if not _is_quiet(state):
            return place
        while place < len(steps):
            is_block = place >= unlike
            unlike = min(place + ROWS, len(steps)) if is_block else unlike
            after = follow_block(state, steps, losses, place, unlike) if is_block else place
            if after == place:
                after = _losses(state, steps, losses, place, unlike)
            if after < unlike:
                return after
            place = after
        return place

    _in_turns(len(steps), many, one)


def judge_norms(state: Norm, metric: str, steps: Sequence[int], values: Sequence[float]) -> None:
    """`judge_norm` for many such rows."""

    def one(place: int) -> None:
        grad_norm.judge_norm(state, metric, steps[place], values[place], True, False)

    def many(place: int) -> int:
        watches = (state.vanished, state.explosion, state.creep)
        quiet = state.trend.rows >= YOUNG and all(watch.streak is None for watch in watches)
        return _norms(state, values, place) if quiet else place

    _in_turns(len(values), many, one)


def judge_speeds(
    state: Speed,
    seconds: Sequence[float],
    marks: Sequence[float | None],
    judge_one: Callable[[int], None],
) -> None:
    """`judge_speed` for many such rows. `marks`: the value of `Speed.last` after each."""

    def many(place: int) -> int:
        open_now = state.slow.streak is not None or state.leak.streak is not None
        quiet = state.trend.rows >= YOUNG and state.settled and state.warm >= throughput.WARM
        end = _speeds(state, seconds, place) if quiet and not open_now else place
        state.last = marks[end - 1] if end > place else state.last
        return end

    _in_turns(len(seconds), many, judge_one)


def _in_turns(count: int, many: Callable[[int], int], one: Callable[[int], None]) -> None:
    """Alternate: many rows at once while nothing happens, then a few one by one."""
    place = 0
    while place < count:
        place = many(place)
        end = min(place + ONE_BY_ONE, count)
        for each in range(place, end):
            one(each)
        place = end


def _is_quiet(state: LossState) -> bool:
    """Whether the curve is past its beginning and has no open excursion."""
    if state.same or state.zeros or state.signed or state.matched or state.restart_rows:
        return False
    rises = state.rises
    if not rises.is_over or rises.watch.streak is not None:
        return False
    if state.first_rows.goes_on or not state.settled:
        return False
    if state.trend.rows < YOUNG or len(state.recent) < windows.BEFORE or state.rises_above:
        return False
    if len(state.opening) < restart_from_scratch.OPENING or state.spike.streak is not None:
        return False
    return all(getattr(state, kind).streak is None for kind in LASTING)


def _losses(
    state: LossState, steps: Sequence[int], losses: Sequence[float], first: int, end: int
) -> int:
    """Follow rows from `first` on, `end` at most. Returns the index of the first row at which
    something may happen.

    One long function: a call for each row would cost more than the rules themselves.
    """
    trend, log = state.trend, math.log
    level, scale, below = trend.level, trend.scale, trend.below
    smooth, low, lowest = state.smooth, state.low, state.lowest
    wobble, before, newest, above = state.wobble, state.before, state.newest, state.above
    opening, descent, has_descended = state.opening[0], state.descent, state.descended
    forgotten_drop, last_opening = restart_from_scratch._FORGOTTEN_RATIO, state.opening[-1]
    ys, least_rise, lag = list(state.recent), level_rises.MIN_RISE, LAG_ROWS
    mask, many = windows.ALL_NEW, NEW_ROWS - windows.OUTLIERS
    back = windows.MANY + 10
    leap, saturated_loss, tolerance = windows.MIN_LEAP, loss.SATURATED_LOSS, loss.SATURATED_WITHIN
    alike, high, elevated_excess, drift = (
        restart_from_scratch.ALIKE,
        loss._HIGH,
        loss._ELEVATED_RATIO,
        loss._DRIFT,
    )
    place = first - 1
    for place in range(first, end):
        value = losses[place]
        if value <= 0.0 or value == newest or -tolerance < value - saturated_loss < tolerance:
            break
        y = log(value)
        excess = y - level
        if excess > high:
            break
        if -alike < y - opening < alike and (
            level < y - forgotten_drop or lowest < y - forgotten_drop
        ):
            break
        if (y > ys[-AT_ONCE] + leap or y > ys[-SUSTAINED_ROWS] + leap) and windows.leaps(ys, y):
            break
        mark = y - least_rise
        if (ys[-1] < mark or ys[-2] < mark or ys[-lag] < mark or ys[-lag - 1] < mark) and (
            level_rises.begins(ys, y)
        ):
            break
        higher = (above << 1 | (y > ys[-NEW_ROWS])) & mask
        if higher.bit_count() >= many and windows.stand_above([*ys, y]):
            break
        if (
            y > ys[-back]
            and windows.may_have_moved_up(ys, y)
            and windows.has_moved_up([*ys, y], state.opening)
        ):
            break
        if excess < 0.0:
            away, under = -excess, below + 1
        else:
            away, under = excess, 0
        widest = CLIP * scale
        rate = RATE if under <= LAG else FOLLOW
        move = excess if away < widest else (widest if excess > 0 else -widest)
        center = level + rate * move
        noise = scale + rate * (TURN * (away if away < widest else widest) - scale)
        noise = noise if noise > FLOOR else FLOOR
        move, widest = y - smooth, loss.MAX_MOVE * noise
        if not -widest <= move <= widest:
            move = widest if move > 0.0 else -widest
        next_smooth = smooth + RATE * move
        least = next_smooth if next_smooth < low else low
        bottom = next_smooth if next_smooth < lowest else lowest
        excess, rise = y - center, next_smooth - least
        if (
            next_smooth > bottom + REGRESSION_RATIO  # so it cannot have diverged
            or (excess > elevated_excess and excess > loss.ELEVATED_NOISE * noise)
            or (rise > drift and rise > loss.DRIFT_NOISE * noise)
        ):
            break
        if not has_descended:
            has_descended, descent = y < last_opening - forgotten_drop, descent + 1
        move, widest = abs(y - before), CLIP * wobble + FLOOR
        wobble = wobble + RATE * ((move if move < widest else widest) - wobble)
        ys.append(y)
        level, scale, below, above = center, noise, under, higher
        smooth, low, lowest, before, newest = next_smooth, least, bottom, y, value
    else:
        place += 1
    if place > first:
        count = place - first
        trend.level, trend.scale, trend.below, trend.rows = level, scale, below, trend.rows + count
        state.smooth, state.low, state.lowest = smooth, low, lowest
        state.wobble, state.before, state.newest, state.above = wobble, before, newest, above
        state.descent, state.descended, state.changes = (
            descent,
            has_descended,
            state.changes + count,
        )
        state.positive, state.last_step = newest, steps[place - 1]
        state.recent = ys[-windows.WINDOW :]
        state.recent_steps = [*state.recent_steps, *steps[first:place]][-windows.WINDOW :]
    return place


def _norms(state: Norm, values: Sequence[float], first: int) -> int:
    """As `_losses`."""
    trend, log, exploded_ratio, most = (
        state.trend,
        math.log,
        grad_norm._EXPLOSION_RATIO,
        grad_norm._CREEP,
    )
    level, scale, below, rows = trend.level, trend.scale, trend.below, trend.rows
    usual, fast, slow = state.usual, state.fast, state.slow
    place = first - 1
    for place in range(first, len(values)):
        value = values[place]
        if value <= 0.0:
            break
        y = log(value)
        excess = y - level
        if excess > exploded_ratio:
            break
        mean = 1 / (rows + 1)
        faster = fast + (mean if mean > FAST_RATE else FAST_RATE) * (y - fast)
        slower = slow + (mean if mean > SLOW_RATE else SLOW_RATE) * (y - slow)
        if faster - slower > most:
            break
        if excess < 0.0:
            away, below = -excess, below + 1
        else:
            away, below = excess, 0
        widest = CLIP * scale
        rate = RATE if below <= LAG else FOLLOW
        move = excess if away < widest else (widest if excess > 0 else -widest)
        level = level + rate * move
        scale = scale + rate * (TURN * (away if away < widest else widest) - scale)
        scale = scale if scale > FLOOR else FLOOR
        eased_level = usual - EASE
        usual = level if level > eased_level else eased_level
        fast, slow, rows = faster, slower, rows + 1
    else:
        place += 1
    trend.level, trend.scale, trend.below, trend.rows = level, scale, below, rows
    state.usual, state.fast, state.slow = usual, fast, slow
    return place


def _speeds(state: Speed, seconds: Sequence[float], first: int) -> int:
    """As `_losses`."""
    trend, log, most = state.trend, math.log, throughput._SLOW
    level, scale, below = trend.level, trend.scale, trend.below
    smooth, best, leak = state.smooth, state.best, throughput._LEAK
    place = first - 1
    for place in range(first, len(seconds)):
        value = seconds[place]
        if value <= 0.0:
            break
        y = log(value)
        excess = y - level
        if excess > most:
            break
        if excess < 0.0:
            away, under = -excess, below + 1
        else:
            away, under = excess, 0
        widest = CLIP * scale
        rate = RATE if under <= LAG else FOLLOW
        move = excess if away < widest else (widest if excess > 0 else -widest)
        center = level + rate * move
        noise = scale + rate * (TURN * (away if away < widest else widest) - scale)
        noise = noise if noise > FLOOR else FLOOR
        move, widest = y - smooth, 3 * noise
        if not -widest <= move <= widest:
            move = widest if move > 0.0 else -widest
        next_smooth = smooth + RATE * move
        least = next_smooth if next_smooth < best else best
        slower = next_smooth - least
        if slower > leak and slower > throughput.LEAK_NOISE * noise:
            break
        level, scale, below, smooth, best = center, noise, under, next_smooth, least
    else:
        place += 1
    count = place - first
    trend.level, trend.scale, trend.below, trend.rows = level, scale, below, trend.rows + count
    state.smooth, state.best, state.warm = smooth, best, state.warm + count
    return place
