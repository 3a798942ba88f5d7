"""Rises among the first rows of a curve, before its trend has settled.

A ratio of losses means nothing near zero: the losses of reward models, critics and generators begin
there and rise by nature. Otherwise few rows are enough if the earlier rows hardly differ, if the
rise is enormous, or if the gradient norm leaps in the same rows. Even fewer are enough if the
record begins in the middle of a training, after its first descent.
"""

import math
from collections.abc import Sequence
from dataclasses import field
from itertools import pairwise
from typing import NamedTuple

from herorun.core.detectors.excursion import ExcursionWatch, Streak
from herorun.core.evidence import Excursion
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_statistics import median

ROWS = 30  # in which a trend settles
NEAR_ZERO = 0.1  # nats: the loss of a probability of 0.9; below it there is little left to learn
LATE_STEP = 500  # a record that begins later, and later than twice its length, is of mid-training
STAYS = 1.5  # a rise continues while above this multiple of the level before
MAX_ROWS = 500  # rows for which the level before a rise is kept
TOGETHER, BOTH, PAIR = 4, 3.0, 2  # earlier rows; factor of loss and norm; newest rows
# rows of which each is above the one before (1 in 40,320 by chance); total factor
CLIMB, CLIMB_RATIO = 8, 2.0
FELL = 1.25  # factor by which the loss must have fallen before it climbs
# rows that only rise, all this factor above the two rows before them, of a loss that had fallen by
# at least the last factor
TURN, ABOVE_PAIR, FALL_RATIO = 3, 2.0, 3.0


class Rise(NamedTuple):
    """A rule: this many of the newest rows, all this factor above the highest row before them."""

    newest: int
    times: float
    before: int  # rows that they are compared with, at least
    within: float = math.inf  # times the lowest of those, that the highest may be
    all_rows: bool = False  # all rows before, and not only the newest of them
    mid_training: bool = False  # only in a record that begins in the middle of a training


RISES = (
    Rise(1, 10.0, 3, all_rows=True),
    Rise(1, 3.0, 4, 1.1),
    Rise(3, 2.0, 3, 1.2),
    Rise(3, 1.5, 4, 1.1),
    Rise(1, 100.0, 1, all_rows=True, mid_training=True),
    Rise(2, 10.0, 1, all_rows=True, mid_training=True),
    Rise(5, 1.5, 2, 1.1, all_rows=True, mid_training=True),
)
RULES = (
    ROWS, NEAR_ZERO, LATE_STEP, STAYS, MAX_ROWS, TOGETHER, BOTH, PAIR, CLIMB, CLIMB_RATIO, FELL,
    TURN, ABOVE_PAIR, FALL_RATIO,
    *(value for rise in RISES for value in (*rise[:3], str(rise.within), *rise[4:])),
)  # fmt: skip

_TIMES = tuple(math.log(rise.times) for rise in RISES)
_FLOOR, _STAYS, _BOTH = math.log(NEAR_ZERO), math.log(STAYS), math.log(BOTH)
_CLIMB_RATIO, _FELL = math.log(CLIMB_RATIO), math.log(FELL)
_ABOVE_PAIR, _FALL_RATIO = math.log(ABOVE_PAIR), math.log(FALL_RATIO)


@dataclass(slots=True)
class FirstRises:
    is_over: bool = False  # the trend has settled, or the loss is not always above zero
    first_step: int = 0
    steps: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)  # of those rows, as logarithms
    norms: list[float] = field(default_factory=list)  # the same; nan where a row has none
    watch: ExcursionWatch = field(default_factory=ExcursionWatch)

    def excursions(self) -> list[Excursion]:
        return self.watch.excursions("risen", "loss")


def follow_rise(
    state: FirstRises,
    step: int,
    y: float,
    norm: float | None,
    is_declared: bool,
    spike: Streak | None = None,
) -> None:
    """Add a row: the logarithm of its loss, and its gradient norm. A rise within an open `spike` is
    the same excursion, and has the spike's beginning.
    """
    if state.watch.streak is not None:
        _go_on(state, step, y)
        return
    if not state.losses:
        state.first_step = step
    state.steps.append(step)
    state.losses.append(y)
    state.norms.append(math.log(norm) if norm is not None and 0 < norm < math.inf else math.nan)
    count, usual = _newest_risen(state)
    if count:
        rows = zip(state.steps[-count:], state.losses[-count:], strict=True)
        for at, loss in rows:
            streak = state.watch.extend(at, loss - usual, math.exp(usual), 0.0, is_declared)
            streak.first_step = min(streak.first_step, spike.first_step if spike else at)
        for values in (state.steps, state.losses, state.norms):
            del values[-count:]
    if len(state.losses) >= ROWS:
        stop(state)


def stop(state: FirstRises) -> None:
    """Stop judging new rows; an open rise continues until the loss is back."""
    state.is_over, state.steps, state.losses, state.norms = True, [], [], []


def _newest_risen(state: FirstRises) -> tuple[int, float]:
    """How many of the newest rows have risen (0 for none), and the logarithm of the usual loss."""
    losses = state.losses
    length = state.steps[-1] - state.first_step
    is_mid_training = state.first_step >= LATE_STEP and state.first_step > 2 * length
    newest = losses[-1]
    for rise, times in zip(RISES, _TIMES, strict=True):
        # What is cheap rules out most rows: too few before, or no rise even above the last of them.
        if len(losses) < rise.newest + rise.before:
            continue
        if newest <= losses[-rise.newest - 1] + times:
            continue
        reference = (
            losses[: -rise.newest]
            if rise.all_rows
            else losses[-rise.newest - rise.before : -rise.newest]
        )
        if (is_mid_training or not rise.mid_training) and _is_risen(
            reference, losses[-rise.newest :], rise
        ):
            return rise.newest, median(reference)
    if _leap_together(state):
        return PAIR, median(losses[-PAIR - TOGETHER : -PAIR])
    if _climbs(losses):
        return CLIMB - 1, losses[-CLIMB]
    if _turns_up(losses):
        return TURN, median(losses[-TURN - PAIR : -TURN])
    return 0, 0.0


def _is_risen(before: Sequence[float], newest: Sequence[float], rise: Rise) -> bool:
    if len(before) < rise.before:
        return False
    highest = max(before)
    is_calm = highest - min(before) < math.log(rise.within)
    return highest > _FLOOR and is_calm and min(newest) > highest + math.log(rise.times)


def _leap_together(state: FirstRises) -> bool:
    """Whether the loss and the gradient norm leap in the same two rows, as two independent
    measurements.
    """
    for values, least in ((state.losses, _FLOOR), (state.norms, -math.inf)):
        before, newest = values[-PAIR - TOGETHER : -PAIR], values[-PAIR:]
        if len(before) < TOGETHER or math.isnan(sum(before) + sum(newest)):
            return False
        if max(before) <= least or min(newest) <= max(before) + _BOTH:
            return False
    return True


def _climbs(losses: Sequence[float]) -> bool:
    newest = losses[-CLIMB:]
    if (
        len(newest) < CLIMB
        or newest[-1] <= newest[0] + _CLIMB_RATIO
        or losses[0] < newest[0] + _FELL
    ):
        return False
    return all(after > before for before, after in pairwise(newest))


def _turns_up(losses: Sequence[float]) -> bool:
    """Whether a loss that had fallen rises again, and further in each of the newest rows."""
    newest, earlier = losses[-TURN:], losses[: -TURN - PAIR]
    if not earlier:
        return False
    highest = max(losses[-TURN - PAIR : -TURN])
    if highest <= _FLOOR or max(earlier) < highest + _FALL_RATIO:
        return False
    rises = all(after > before for before, after in pairwise(newest))
    return rises and newest[0] > highest + _ABOVE_PAIR


def _go_on(state: FirstRises, step: int, y: float) -> None:
    streak = state.watch.streak
    assert streak is not None
    excess = y - math.log(streak.expected)
    if streak.rows >= MAX_ROWS:
        state.watch.end("risen", "loss")
        stop(state)
    elif excess > _STAYS:
        state.watch.extend(step, excess, streak.expected, 0.0)
    else:
        state.watch.within("risen", "loss")
