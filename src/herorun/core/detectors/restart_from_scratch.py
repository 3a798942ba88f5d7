"""A training that begins again from untrained weights: the loss repeats the first rows of the run.

A spike of trained weights can reach the opening loss too, but it comes down sooner. So the loss
must stay high for most of the rows that the first descent took. If the step counter also begins
again, four rows are enough, or the two or three that the run had by then. An excursion lasts from
the first such row until the loss has come down.
"""

import math

from herorun.core.detectors.excursion import MISSES
from herorun.core.detectors.loss_state import LossState

OPENING = 4  # rows that identify the beginning of a run ...
MIN_ROWS = 2  # ... or so many, if its steps begin again after them
ALIKE = 0.1  # largest difference of a row from its opening row, as a logarithm
# the same if the step counter begins again: other batches or another seed are possible
OTHER_BATCHES_RATIO = 0.4
MIN_AGE = 8  # rows before which a curve cannot have learned anything
FORGOTTEN_RATIO = 2.0  # factor by which a curve must have been below its beginning
# how long the loss must stay high: this share of the rows of the first descent to half ...
DESCENT = 0.75
MAX_ROWS = 100  # ... and at most so many rows

_FORGOTTEN_RATIO = math.log(FORGOTTEN_RATIO)

RULES = (OPENING, MIN_ROWS, ALIKE, OTHER_BATCHES_RATIO, MIN_AGE, FORGOTTEN_RATIO, DESCENT, MAX_ROWS)


def start_opening(state: LossState, y: float) -> None:
    """The first row of a curve, its loss as a logarithm."""
    state.opening, state.opened, state.matched = [y], False, 0
    state.descent, state.descended = 1, False


def follow(state: LossState, step: int, y: float) -> None:
    """Update the state with one row."""
    opening = state.opening
    if not state.opened:
        state.opened = len(opening) == OPENING or (
            state.restart_rows > 0 and len(opening) >= MIN_ROWS
        )
    if not state.opened:
        opening.append(y)
        state.descent += 1
        return
    if not state.descended:
        state.descended = y < opening[-1] - _FORGOTTEN_RATIO
        state.descent += 1
    if state.matched == len(opening):
        _stay(state, step, y)
    elif state.matched or abs(y - opening[0]) < OTHER_BATCHES_RATIO:
        _match(state, step, y)
    if state.restart_rows:
        state.restart_rows -= 1


def _match(state: LossState, step: int, y: float) -> None:
    """Compare a row with the next row of the opening."""
    opening, match_count = state.opening, state.matched
    like = abs(y - opening[match_count]) < (OTHER_BATCHES_RATIO if state.restart_rows else ALIKE)
    if match_count == 0:
        if not (like and _has_learned(state, y)):
            return
        state.matched = 1
        state.matched_from, state.dips = step, 0
        state.stay = len(opening) if state.restart_rows else _least_stay(state)
        state.back_below = _end_level(state)
    elif not like:
        state.matched = 0
    else:
        state.matched = match_count + 1
        if state.matched == len(opening):
            state.stayed = len(opening) - 1
            _stay(state, step, y)


def _has_learned(state: LossState, y: float) -> bool:
    """Whether the loss had come down to half. The trend of a few rows lags above them."""
    if state.restart_rows and state.trend.rows < MIN_AGE:
        return state.first_rows.floor < y - _FORGOTTEN_RATIO
    return state.trend.rows >= MIN_AGE and _lowest(state) < y - _FORGOTTEN_RATIO


def _least_stay(state: LossState) -> int:
    if not state.descended:
        return OPENING
    return max(OPENING, min(int(DESCENT * state.descent), MAX_ROWS))


def _lowest(state: LossState) -> float:
    level = state.trend.level
    return min(level, state.lowest) if state.settled else level


def _end_level(state: LossState) -> float:
    """The level of a descent: half of the opening, or half-way if it never fell so far."""
    last = state.opening[-1]
    if state.descended:
        return last - _FORGOTTEN_RATIO
    # the trend may still be above the opening's last row, if the first row was far higher
    return min((last + _lowest(state)) / 2, last - ALIKE)


def _stay(state: LossState, step: int, y: float) -> None:
    """Follow the loss after the match: still high, or down again. A single row below does not end
    it.
    """
    watch = state.untrained
    if y < state.back_below:
        state.dips += 1
        if state.dips > MISSES:
            watch.end("untrained", "loss")
            state.matched = 0
        return
    state.dips, state.stayed = 0, state.stayed + 1
    if state.stayed >= state.stay:
        low = _lowest(state) if watch.streak is None else math.log(watch.streak.expected)
        watch.extend(step, y - low, math.exp(low), 0.0).first_step = state.matched_from
