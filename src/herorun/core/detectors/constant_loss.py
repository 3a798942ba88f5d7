"""Losses of which ratios say nothing: exactly zero, one value that repeats row after row, and those
below zero or on both sides of zero.

Log-likelihoods and the objectives of reinforcement learning are below zero. There the newest rows
are compared with the highest of those before, in units of the range of those, which needs no scale
of the loss. Of 826 curves that no event is in, at five row rates and on this scale, critics and
generators included, the highest is 0.54 times the range.
"""

import math
from itertools import pairwise

from herorun.core.detectors.loss_state import SIGNED_ROWS, LossState, SignedLevel
from herorun.core.lazy_statistics import median

FROZEN_ROWS = 20  # rows with exactly one value after which the loss counts as frozen
# times the longest earlier stretch of one value: some logs repeat a value until there is a new one
REPEATS = 5
CHANGES = 30  # other values that must have come before
ROUNDING_RATIO = 4.0  # times the smallest difference of two losses: less may be printed as zero
BEFORE, OUTLIERS = 30, 1  # rows to compare with; on each side, of no part in their range
NEW_ROWS, RANGES = 5, 1.0  # rows that are all so many ranges above the highest of those
MAX_ROWS = 500  # rows for which the level before is kept
ONE_NAT = 1.0  # no single update brings a loss from this value to exactly zero


def follow_zero(state: LossState, step: int, norm: float | None) -> None:
    """Follows zeros. Some losses are printed as zero now and then: a stretch counts only if it is
    far longer than any before. After a loss of 1 nat or more a zero is never normal, unless nothing
    in the batch counted: then the gradient norm is zero too.
    """
    is_first = not (state.zeros or state.longest_zeros) and state.positive >= ONE_NAT
    if (is_first and (norm is None or 0.0 < norm < math.inf)) or state.emptied.streak is not None:
        state.emptied.extend(step, 0.0, state.positive, 0.0)
    if not state.zeros:
        state.zeros_from = step
    state.zeros += 1
    usual_rows = state.trend.rows or (state.longest_zeros and state.positive)
    goes_on = state.collapsed.streak is not None
    if (
        usual_rows
        and state.zeros > REPEATS * state.longest_zeros
        and (goes_on or not _is_rounded(state))
    ):
        usual = math.exp(state.trend.level) if state.trend.rows else state.positive
        state.collapsed.extend(step, 0.0, usual, 0.0)


def _is_rounded(state: LossState) -> bool:
    """Whether the newest losses are so near to zero that the printed decimals may round them to
    zero.
    """
    values = sorted({math.exp(y) for y in state.recent})
    if len(values) < 2:
        return False
    if values[0] > ONE_NAT:
        return False  # few rows of a steep descent
    decimal = min(after - before for before, after in pairwise(values))
    return values[len(values) // 2] < ROUNDING_RATIO * decimal


def forget_zeros(state: LossState, start: int) -> None:
    """Forget zeros from `start` on: a new attempt trains those steps again."""
    state.zeros = 0
    if state.longest_zeros_from >= start:
        state.longest_zeros = 0


def end_zeros(state: LossState) -> None:
    if state.longest_zeros or not state.trend.rows:
        # zero from the beginning, or for the second time: ratios of such a loss mean nothing
        state.signed = SIGNED_ROWS
    if state.zeros > state.longest_zeros:
        state.longest_zeros, state.longest_zeros_from = state.zeros, state.zeros_from
    state.zeros = 0
    state.collapsed.within("collapsed", "loss", 0)
    state.emptied.end("emptied", "loss")


def follow_repeat(state: LossState, step: int, loss: float, is_declared: bool) -> None:
    """Follows repeated values: no batches have the same loss to the last digit row after row. A
    loss of zero has its own check.
    """
    if loss != state.newest or loss == 0.0:
        state.frozen.end("frozen", "loss")
        end_repeat(state, loss)
        return
    state.same += 1
    if state.changes > CHANGES and state.same >= max(FROZEN_ROWS, REPEATS * state.longest_same):
        state.frozen.extend(step, 0.0, loss, 0.0, is_declared)


def end_repeat(state: LossState, loss: float) -> None:
    if state.same:
        state.longest_same, state.same = max(state.longest_same, state.same), 0
    state.newest = loss
    state.changes += 1


def follow_signed(state: SignedLevel, step: int, loss: float, is_declared: bool) -> None:
    """Add a row. An excursion has the median of the rows before as the expected value, their range
    as the noise, and its height in such ranges.
    """
    streak = state.watch.streak
    if streak is not None:
        if streak.rows >= MAX_ROWS:
            state.watch.end("stepped", "loss")
            state.losses, state.steps = [], []
        elif loss > state.floor:
            height = math.log((loss - streak.expected) / streak.noise)
            state.watch.extend(step, height, streak.expected, streak.noise)
        else:
            state.watch.within("stepped", "loss")
        return
    losses, steps = state.losses, state.steps
    losses.append(loss)
    steps.append(step)
    del losses[: -BEFORE - NEW_ROWS], steps[: -BEFORE - NEW_ROWS]
    before = sorted(losses[:-NEW_ROWS])
    if len(before) < BEFORE or len(set(before)) <= BEFORE // 2:
        return  # too few, or rounded to equal values that have no usable range
    spread = before[-1 - OUTLIERS] - before[OUTLIERS]
    newest = losses[-NEW_ROWS:]
    if not spread > 0.0 or min(newest) <= before[-1] + RANGES * spread:
        return
    usual = median(before)
    for at, value in zip(steps[-NEW_ROWS:], newest, strict=True):
        state.watch.extend(at, math.log((value - usual) / spread), usual, spread, is_declared)
    state.floor = before[-1]
    del losses[-NEW_ROWS:], steps[-NEW_ROWS:]


def end_signed(state: SignedLevel) -> None:
    """The loss is above zero for good."""
    state.watch.end("stepped", "loss")
    state.losses, state.steps = [], []
