"""Losses of exactly zero, and one value that repeats row after row."""

import math
from itertools import pairwise

from herorun.core.detectors.loss_state import SIGNED, LossState

FROZEN = 20  # rows with exactly one value after which the loss counts as frozen
# times the longest earlier stretch of one value: some logs repeat a value until there is a new one
REPEATS = 5
CHANGES = 30  # other values that must have come before
ROUNDED = 4.0  # times the smallest difference of two losses: less may be printed as zero
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
    return values[len(values) // 2] < ROUNDED * decimal


def forget_zeros(state: LossState, start: int) -> None:
    """Forget zeros from `start` on: a new attempt trains those steps again."""
    state.zeros = 0
    if state.longest_zeros_from >= start:
        state.longest_zeros = 0


def end_zeros(state: LossState) -> None:
    if state.longest_zeros or not state.trend.rows:
        # zero from the beginning, or for the second time: ratios of such a loss mean nothing
        state.signed = SIGNED
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
    if state.changes > CHANGES and state.same >= max(FROZEN, REPEATS * state.longest_same):
        state.frozen.extend(step, 0.0, loss, 0.0, is_declared)


def end_repeat(state: LossState, loss: float) -> None:
    if state.same:
        state.longest_same, state.same = max(state.longest_same, state.same), 0
    state.newest = loss
    state.changes += 1
