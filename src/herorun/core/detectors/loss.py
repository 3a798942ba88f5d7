"""The shape of the loss: spikes, a raised level, a slow rise, zeros, and a repeated value.

The expected value does not change during a spike, from its third row and for at most 500 rows; then
the new level is accepted. Before the trend has settled, the expected value is the highest so far,
and a rise must exceed the differences from row to row. Such an early excursion begins only among
dense rows: with hundreds of steps between two rows, the loss of a young curve may be anywhere. An
excursion that has begun continues over a gap.
"""

import math

from herorun.core.detectors import (
    first_rises,
    first_rows,
    restart_from_scratch,
    windows,
)
from herorun.core.detectors.baseline import CLIP, FLOOR, RATE, SETTLE, Trend
from herorun.core.detectors.constant_loss import (
    BEFORE,
    CHANGES,
    FROZEN_ROWS,
    MAX_ROWS,
    NEW_ROWS,
    ONE_NAT,
    OUTLIERS,
    RANGES,
    REPEATS,
    ROUNDING_RATIO,
    end_repeat,
    end_signed,
    end_zeros,
    follow_repeat,
    follow_signed,
    follow_zero,
)
from herorun.core.detectors.loss_state import SIGNED_ROWS, LossState
from herorun.core.lazy_statistics import median

RATIO = 1.5  # manage-hero-run's: more than 50 % above the expected trend
ALONE = 3.0  # the same, with only one row to compare with ...
RISING = 1.2  # ... and this factor of the mean of the rise before it, from the third row on
FREEZE = 500  # rows for which an open spike freezes the trend
FREEZE_YOUNG = 20
MOVES = 3 * 0.886  # times the mean difference from row to row: the most that the noise can be
FREEZE_ROWS = 3  # rows of a spike after which the trend is frozen, and its mean counts
RAISED_ROWS = 10  # rows of a raised level after which its mean counts
DENSE = 20  # the most steps between two rows of a young curve ...
ABSURD = 1000.0  # ... unless the loss is this many times the highest so far
JITTERS = 4.0  # times the mean difference from row to row, for a young curve
ELEVATED_RATIO = 1.02
ELEVATED_NOISE = 6.0
DRIFT = 1.01
MAX_MOVE = 4.0  # times the noise: the most that one row moves the smoothed level
DRIFT_NOISE = 1.7  # times the noise: a smoothed level varies by less
DIVERGED_RATIO = 1.5
DIVERGED_NOISE = 3.0
LEARNED_RATIO = 1.25  # factor by which a curve must have fallen before it can count as diverged
ODD = 4  # first rows that may be odd, and would hide everything for sixty more, where ...
FELL = 8  # ... so many rows follow them ...
FAR = 10.0  # ... that are so many times lower than the trend
# excursions that need a trend
SHAPES = ("spike", "elevated", "drift", "diverged", "regressed", "untrained", "shifted", "raised")
# -ln of the smallest normal float32, 2^-126: the loss where the probability of every right class
# was rounded to zero and then clipped, as Caffe's softmax does; printed with six digits
SATURATED_LOSS, SATURATED_WITHIN = 126 * math.log(2.0), 5e-4
# The same for a probability that the program clips: 1e-8 to 1e-16 are constants of log(p + eps) in
# use, and 1 - 1e-7, Keras's, is 1 - 2^-23 in single precision. Chance may give one such value, but
# not in three rows; 1e-5 to 1e-7 may be an untrained vocabulary of so many classes.
CLIPPED_LOSSES = (23 * math.log(2.0), *(digits * math.log(10.0) for digits in range(8, 17)))
EQUAL = 2  # rows before this one that have the same loss

_HIGH, _ALONE, _RISING = math.log(RATIO), math.log(ALONE), math.log(RISING)
_ABSURD = math.log(ABSURD)
_ELEVATED_RATIO, _DRIFT, _DIVERGED_RATIO = (
    math.log(ELEVATED_RATIO),
    math.log(DRIFT),
    math.log(DIVERGED_RATIO),
)
_LEARNED_RATIO, _FAR = math.log(LEARNED_RATIO), math.log(FAR)

REGRESSION_RATIO = math.log(1.05)  # of the smoothed loss above its lowest
GAVE_BACK = 0.2  # of the fall since the first rows
MIN_LEARNED = 0.25  # times the lowest loss: the least fall before that
RULES = (
    RATIO, ALONE, RISING, FREEZE, FREEZE_YOUNG, FREEZE_ROWS, RAISED_ROWS, DENSE, ABSURD, JITTERS, ELEVATED_RATIO, ELEVATED_NOISE, DRIFT, DRIFT_NOISE, MAX_MOVE,  # noqa: E501  # one entry of a table, or one recorded value
    DIVERGED_RATIO, DIVERGED_NOISE, LEARNED_RATIO,
    SIGNED_ROWS, FROZEN_ROWS, ONE_NAT, REPEATS, CHANGES, MOVES, ODD, FELL, FAR, ROUNDING_RATIO,
    SATURATED_LOSS, SATURATED_WITHIN, *CLIPPED_LOSSES, EQUAL, BEFORE, OUTLIERS, NEW_ROWS, RANGES,
    MAX_ROWS, REGRESSION_RATIO, GAVE_BACK, MIN_LEARNED,
)  # fmt: skip


def judge_loss(
    state: LossState,
    step: int,
    loss: float,
    *,
    fresh: bool,
    is_declared: bool,
    boundary: bool,
    before: float | None = None,
    norm: float | None = None,
) -> None:
    """Judge one finite loss. `fresh`: beyond all steps so far. `before`: an earlier attempt's loss
    at this step. `norm`: the row's gradient norm.
    """
    _constants(state, step, loss, is_declared, norm)
    state.above_zero = state.above_zero or loss > 0.0
    if loss == 0.0:
        return
    if loss < 0.0 or state.signed:
        _handle_signed_loss(state, loss)
        if fresh and state.signed:
            follow_signed(state.signed_level, step, loss, is_declared)
        return
    state.positive = loss
    y = math.log(loss)
    if state.first_rows.goes_on:
        first_rows.follow(state.first_rows, step, y, loss)
    rises = state.rises
    if (not rises.is_over or rises.watch.streak is not None) and (fresh or not state.trend.rows):
        first_rises.follow_rise(rises, step, y, norm, is_declared, state.spike.streak)
    gap, state.last_step = step - state.last_step, step
    if not state.trend.rows:
        state.trend.reset(y)
        state.smooth = state.before = y
        restart_from_scratch.start_opening(state, y)
        return
    restart_from_scratch.follow(state, step, y)
    trend, spike = state.trend, state.spike
    is_spike = False
    if trend.rows < SETTLE or y - trend.level > _HIGH or spike.streak is not None:
        is_spike = _spike(state, step, y, gap, is_declared, before)
    if fresh:
        windows.follow_level(state, step, y, is_declared)
    if fresh and not is_spike:
        _waver(state, y)
        if trend.rows <= ODD + FELL and _fell_far(state, y):
            trend.reset(y)
        else:
            trend.learn(y)
        _level(state, step, y, is_declared, boundary)


def _constants(
    state: LossState, step: int, loss: float, is_declared: bool, norm: float | None
) -> None:
    """Follow constant values: a repeated loss, zero, and that of a saturated output."""
    if loss == state.newest or state.frozen.streak is not None:
        follow_repeat(state, step, loss, is_declared)
    else:
        end_repeat(state, loss)
    if loss == 0.0:
        follow_zero(state, step, norm)
        return
    if state.zeros:
        end_zeros(state)
    if abs(loss - SATURATED_LOSS) < SATURATED_WITHIN or (state.same >= EQUAL and _is_clipped(loss)):
        state.saturated.extend(step, 0.0, loss, 0.0, is_declared)
    elif state.saturated.streak is not None:
        state.saturated.within("saturated", "loss", 0)


def _is_clipped(loss: float) -> bool:
    return any(abs(loss - level) < SATURATED_WITHIN for level in CLIPPED_LOSSES)


def _handle_signed_loss(state: LossState, loss: float) -> None:
    """A loss below zero has no trend to compare with; once it was above zero for `SIGNED_ROWS`
    rows, the trend begins again.
    """
    state.signed = SIGNED_ROWS if loss < 0.0 else state.signed - 1
    if not state.signed:
        end_signed(state.signed_level)
    first_rises.stop(state.rises)
    state.rises.watch.end("risen", "loss")
    if state.trend.rows:
        for kind in SHAPES:
            getattr(state, kind).end(kind, "loss")
        state.trend, state.settled = Trend(), False
        state.recent, state.recent_steps, state.rises_above = [], [], []


def _spike(
    state: LossState, step: int, y: float, gap: int, is_declared: bool, before: float | None
) -> bool:
    """Judge spikes. Returns whether the trend must be frozen."""
    trend, spike = state.trend, state.spike
    young = trend.young
    if not young:
        usual, noise = trend.level, 0.0
    else:
        usual, noise = trend.top, trend.jitter / max(trend.rows - 1, 1)
        calm = windows.calm_level(state, y)
        if calm is not None:
            usual, young = calm, False
    excess = y - usual
    if before is not None and before > 0:
        excess = min(excess, y - math.log(before))
    if excess > _HIGH and (not young or _stands_out(state, excess, noise, gap)):
        if not trend.young:
            noise = _noise(state)
        streak = spike.extend(step, excess, math.exp(usual), noise, is_declared, FREEZE_ROWS)
        if streak.rows > (FREEZE_YOUNG if trend.young else FREEZE):
            spike.end("spike", "loss")
            trend.reset(y)
            return True
    elif excess > _HIGH and trend.rows == 1 and spike.streak is not None:
        spike.end("spike", "loss")  # the single row before it was the outlier
        trend.reset(y)
    elif spike.streak is not None:
        spike.within("spike", "loss")
    return spike.streak is not None and (trend.young or spike.streak.rows >= FREEZE_ROWS)


def _fell_far(state: LossState, y: float) -> bool:
    """Whether the first rows were outliers: all later ones are at a tenth of the expected loss."""
    state.far_below = state.far_below + 1 if y < state.trend.level - _FAR else 0
    return state.far_below == FELL


def _waver(state: LossState, y: float) -> None:
    """Follow the differences from row to row; a single one counts as at most three times the usual
    one.
    """
    move, wobble, rows = abs(y - state.before), state.wobble, state.trend.rows
    state.before = y
    if rows < SETTLE:
        state.wobble = wobble + 1 / rows * (move - wobble)
        return
    widest = CLIP * wobble + FLOOR
    state.wobble = wobble + RATE * ((move if move < widest else widest) - wobble)


def _noise(state: LossState) -> float:
    """The noise of one row, without the lag of the level behind the first descent."""
    return max(min(state.trend.scale, MOVES * state.wobble), FLOOR)


def _stands_out(state: LossState, excess: float, noise: float, gap: int) -> bool:
    """Whether a row of a young curve exceeds the differences from row to row, and no gap explains
    it. With only one row to compare with, the loss must continue to rise.
    """
    rows, streak = state.trend.rows, state.spike.streak
    if rows == 1:
        so_far = streak.total / streak.rows + _RISING if streak and streak.rows > 1 else 0.0
        return excess > max(_ALONE, so_far) and (gap <= DENSE or streak is not None)
    is_near = gap <= DENSE or streak is not None or excess > _ABSURD
    return excess > JITTERS * noise and is_near


def _level(state: LossState, step: int, y: float, is_declared: bool, boundary: bool) -> None:
    trend = state.trend
    scale = trend.scale
    move = y - state.smooth
    widest = MAX_MOVE * scale
    if not -widest <= move <= widest:
        move = widest if move > 0.0 else -widest
    state.smooth = smooth = state.smooth + RATE * move
    excess = y - trend.level
    if trend.rows < SETTLE:
        state.smooth = trend.level
        return
    if not state.settled:
        state.settled, state.start = True, smooth
        state.low = state.lowest = smooth
    if smooth < state.low or boundary:
        state.low = smooth
    if smooth < state.lowest:
        state.lowest = smooth
    if smooth > state.lowest + REGRESSION_RATIO:
        _judge_regressed(state, step, smooth, is_declared)
    elif state.regressed.streak is not None:
        state.regressed.within("regressed", "loss", 0)
    if excess > _ELEVATED_RATIO and excess > ELEVATED_NOISE * scale:
        state.elevated.extend(step, excess, math.exp(trend.level), scale, is_declared, RAISED_ROWS)
    elif state.elevated.streak is not None:
        state.elevated.within("elevated", "loss")
    rise = smooth - state.low
    if rise > _DRIFT and rise > DRIFT_NOISE * scale:
        state.drift.extend(step, rise, math.exp(state.low), scale, is_declared)
    elif state.drift.streak is not None:
        state.drift.within("drift", "loss", 0)
    rise = smooth - state.lowest
    if (
        rise > _DIVERGED_RATIO
        and rise > DIVERGED_NOISE * scale
        and state.lowest < state.start - _LEARNED_RATIO
    ):
        state.diverged.extend(step, rise, math.exp(state.lowest), scale, is_declared)
    elif state.diverged.streak is not None:
        state.diverged.within("diverged", "loss", 0)


def _judge_regressed(state: LossState, step: int, smooth: float, is_declared: bool) -> None:
    """Whether a loss above its lowest level has lost much of its earlier fall, although the rise
    itself is small.
    """
    low = math.exp(state.lowest)
    learned_drop, relapse = math.exp(median(state.opening)) - low, math.exp(smooth) - low
    if learned_drop > MIN_LEARNED * low and relapse > GAVE_BACK * learned_drop:
        state.regressed.extend(step, smooth - state.lowest, low, state.trend.scale, is_declared)
    else:
        state.regressed.within("regressed", "loss", 0)
