"""Weights that begin again repeat the first rows of the run, though it had learned long since.

They also need about as many rows as the first time to come down again. A spike of trained weights
that happens to reach the loss of the opening comes back sooner, so the loss must stay up for most
of the first descent. Where the steps are counted from the beginning again, four rows are enough.
One stay above is one excursion, from its first row until the loss has come down.
"""

import math

from herorun.core.detectors.excursion import MISSES
from herorun.core.detectors.loss_state import LossState

OPENING = 4  # rows by which the beginning of a run is known again
ALIKE = 0.1  # as a logarithm
# the same where the steps are counted from the beginning again: other batches, another seed
ANEW = 0.4
YOUNGEST = 8  # rows of a curve that can have learned anything
FORGOTTEN = 2.0  # how far below its beginning a curve must have been
DESCENT = 0.75  # of the rows of the first descent to half, which the loss must stay up ...
MOST = 100  # ... and so many rows suffice

_FORGOTTEN = math.log(FORGOTTEN)

RULES = (OPENING, ALIKE, ANEW, YOUNGEST, FORGOTTEN, DESCENT, MOST)


def begin(state: LossState, y: float) -> None:
    """The first row of a curve, its loss as a logarithm."""
    state.opening, state.matched = [y], 0
    state.descent, state.descended = 1, False


def follow(state: LossState, step: int, y: float) -> None:
    """One row more."""
    opening = state.opening
    if len(opening) < OPENING:
        opening.append(y)
        state.descent += 1
        return
    if not state.descended:
        state.descended = y < opening[-1] - _FORGOTTEN
        state.descent += 1
    if state.matched == OPENING:
        _stay(state, step, y)
    else:
        _match(state, step, y)
    state.anew = max(state.anew - 1, 0)


def _match(state: LossState, step: int, y: float) -> None:
    """Compare with the next row of the opening."""
    opening, matched = state.opening, state.matched
    like = abs(y - opening[matched]) < (ANEW if state.anew else ALIKE)
    if matched == 0:
        learned = state.trend.rows >= YOUNGEST and _lowest(state) < y - _FORGOTTEN
        state.matched = 1 if like and learned else 0
        state.matched_from, state.dips = step, 0
        state.stay = OPENING if state.anew else _least_stay(state)
        state.back_below = _end_level(state)
    elif not like:
        state.matched = 0
    else:
        state.matched = matched + 1
        if state.matched == OPENING:
            state.stayed = OPENING - 1
            _stay(state, step, y)


def _least_stay(state: LossState) -> int:
    if not state.descended:
        return OPENING
    return max(OPENING, min(int(DESCENT * state.descent), MOST))


def _lowest(state: LossState) -> float:
    level = state.trend.level
    return min(level, state.lowest) if state.settled else level


def _end_level(state: LossState) -> float:
    """Where the loss has come down: half of the opening, or half-way where it never was there."""
    last = state.opening[-1]
    if state.descended:
        return last - _FORGOTTEN
    # the trend may still stand above the opening's last row, where the first one was far higher
    return min((last + _lowest(state)) / 2, last - ALIKE)


def _stay(state: LossState, step: int, y: float) -> None:
    """After the match: up still, or down again. One row below does not end it."""
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
        watch.over(step, y - low, math.exp(low), 0.0).first_step = state.matched_from
