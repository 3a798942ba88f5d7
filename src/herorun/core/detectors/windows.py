"""Detects a new level of the newest rows above those before them, without a trend.

A trend lags above a loss that has just come down, and of a young curve only the highest value is
known. Here the newest rows are compared with the highest of the rows before, in units of the range
of those: size times duration. So a jump that is large compared with the noise takes three rows, a
small one a dozen, and a slow rise adds up, independent of the rows' distance and the loss's unit.
With fewer rows to compare with, the noise is less certain, and more evidence is needed.

Three rows at twice the highest of eight calm rows before them, or five at one and a half, need even
less: by chance five rows lie above eight others once in 1,287 times, and hardly ever so far above
calm ones.

A smaller rise that stays is a raised level after many rows: all but two of them lie above all but
two of those before. Chance alone never does that, and a trend hides such a rise by following it.

In the first descent all of these rows lie higher than the newest ones. There three rows are
compared with the four right before them, in units of the rows' distances from the line between
their neighbours: an even descent does not count as noise.
"""

import math
from collections.abc import Sequence

from herorun.core.detectors import level_rises
from herorun.core.detectors.first_rises import NEAR_ZERO
from herorun.core.detectors.level_rises import (
    MIN_FALL,
    MIN_RISE,
    begins,
    continued_rise,
    is_sure,
    new_rise,
)
from herorun.core.detectors.loss_state import LossState
from herorun.core.lazy_statistics import median

NEW_ROWS, REST = 10, 30  # or so many rows, all above as many before but for ...
OUTLIERS = 1  # ... one of those, ...
HALF, FIFTH = 1.5, 1.2  # ... half above their median, and none below a fifth
# So many rows are a raised level if all but two are above all but two of so many before, and their
# median is so much higher, where the loss had fallen. Of quiet public curves at five row rates, one
# critic has such a level, at any height.
MANY, MANY_BEFORE, FEW, RAISED_RATIO = 40, 60, 2, 1.02
CALM = 12  # rows of a young curve that lie within ...
WITHIN = 2.0  # ... this factor
LEAPT = 5.0  # times the highest of them, from which on a row is a leap
MAX_ROWS = 500  # rows in which the level before is remembered
STAYS = 1.1  # times the level before, or the highest row, down to which a shift lasts
REFERENCE = 8  # rows, within the factor of calm ones, that all newer ones lie above:
AT_ONCE, TWICE = 3, 2.0  # so many rows by so many times the highest of them, ...
SUSTAINED_ROWS, HALF_MORE = 5, 1.5  # ... or so many by so many times
# In the first rows so many newest ones above so many right before them, as a logarithm so many
# times what the median, and the most, of a dozen rows lies off the line between its neighbours.
# Of quiet public curves at five row rates the highest are 3.3 times and 1.4 times.
DESCENT, BENDS, MAX_BENT = (3, 4, 12), 7.0, 2.0
BEFORE = 60  # the most rows to compare with
WINDOW = BEFORE + 60  # stored rows: those of a rise may become a shift

_WITHIN, _LEAPT, _STAYS = math.log(WITHIN), math.log(LEAPT), math.log(STAYS)
_HALF, _FIFTH, _RAISED_RATIO = math.log(HALF), math.log(FIFTH), math.log(RAISED_RATIO)
ALL_NEW = (1 << NEW_ROWS) - 1
MIN_LEAP = math.log(HALF_MORE)
_LEAPS = ((AT_ONCE, math.log(TWICE)), (SUSTAINED_ROWS, math.log(HALF_MORE)))
RULES = (
    *level_rises.RULES, NEW_ROWS, REST, OUTLIERS, HALF, FIFTH,
    MANY, MANY_BEFORE, FEW, RAISED_RATIO, BEFORE, WINDOW,
    CALM, WITHIN, LEAPT, MAX_ROWS, STAYS,
    REFERENCE, AT_ONCE, TWICE, SUSTAINED_ROWS, HALF_MORE, *DESCENT, BENDS, MAX_BENT,
)  # fmt: skip


def calm_level(state: LossState, y: float) -> float | None:
    """The highest of the dozen calm rows above which this row (or the spike's first row) leaps;
    None if the earlier rows were not calm, or it is no leap.
    """
    if state.spike.streak is None:
        rows = state.recent[-CALM:]
        highest = max(rows, default=y)
        is_calm = len(rows) == CALM and highest - min(rows) < _WITHIN
        state.calm = highest if is_calm and y > highest + _LEAPT else None
    return state.calm


def follow_level(state: LossState, step: int, y: float, is_declared: bool) -> None:
    """Add a row, and judge whether the newest rows are on a higher level than those before."""
    if state.raised.streak is not None:
        _stay_raised(state, step, y)
    if state.shifted.streak is not None:
        _go_on(state, step, y)
        return
    rows = state.recent
    rises = [later for rise in state.rises_above if (later := continued_rise(rise, y)) is not None]
    if numbers := begins(rows, y):
        open_now = {rise.comparison for rise in rises}
        for number in numbers:
            if number not in open_now and (rise := new_rise(state, number, y)):
                rises.append(rise)
    state.rises_above = rises
    count = leaps(rows, y)
    is_perhaps_up = may_have_moved_up(rows, y)
    rows.append(y)
    state.recent_steps.append(step)
    if len(rows) > WINDOW:
        del rows[:-WINDOW], state.recent_steps[:-WINDOW]
    if is_perhaps_up and state.raised.streak is None and has_moved_up(rows, state.opening):
        _begin_raised(state, is_declared)
    sure = next(filter(is_sure, rises), None) if rises else None
    if count:
        before = rows[-count - REFERENCE : -count]
        _begin_shift(state, count, median(before), max(before), is_declared)
    elif sure is not None:
        _begin_shift(state, sure.rows, sure.usual, sure.highest, is_declared)
    elif follow_above(state, y) and stand_above(rows):
        before = sorted(rows[-NEW_ROWS - REST : -NEW_ROWS])
        _begin_shift(state, NEW_ROWS, median(before), before[-1 - OUTLIERS], is_declared)
    elif leaves_descent(rows):
        newest, near, _ = DESCENT
        before = rows[-newest - near : -newest]
        _begin_shift(state, newest, median(before), max(before), is_declared)


def follow_above(state: LossState, y: float) -> bool:
    """Whether each of the newest rows is above the row ten rows earlier, except for one outlier.
    `y` is the last of the rows.
    """
    rows = state.recent
    is_above = len(rows) > NEW_ROWS and y > rows[-NEW_ROWS - 1]
    state.above = (state.above << 1 | is_above) & ALL_NEW
    return state.above.bit_count() >= NEW_ROWS - OUTLIERS


def stand_above(rows: Sequence[float]) -> bool:
    """Whether all newest rows are far above those before, without a leap among them."""
    if len(rows) < NEW_ROWS + REST:
        return False
    newest, before = rows[-NEW_ROWS:], sorted(rows[-NEW_ROWS - REST : -NEW_ROWS])
    usual = median(before)
    lowest = max(before[-1 - OUTLIERS], usual + _FIFTH)
    return min(newest) > lowest and median(newest) > usual + _HALF


def may_have_moved_up(before: Sequence[float], y: float) -> bool:
    """Whether a few of the newest rows are above those many rows earlier, so that `has_moved_up` is
    worth its time.
    """
    return (
        len(before) >= MANY + MANY_BEFORE - 1
        and y > before[-MANY - 10]
        and before[-10] > before[-MANY - 20]
        and before[-20] > before[-MANY - 30]
        and before[-30] > before[-MANY - 40]
    )


def has_moved_up(rows: Sequence[float], opening: Sequence[float]) -> bool:
    """Whether many rows are above as many before, of a loss that had fallen since its opening:
    critics rise by nature.
    """
    before, newest = sorted(rows[-MANY - MANY_BEFORE : -MANY]), sorted(rows[-MANY:])
    usual = median(before)
    if len(set(before)) <= MANY_BEFORE // 2 or usual > median(opening) - MIN_FALL:
        return False
    return newest[FEW] > before[-1 - FEW] and median(newest) > usual + _RAISED_RATIO


def leaves_descent(rows: Sequence[float]) -> bool:
    """Whether a young curve's newest rows have left the line of those before them."""
    newest, near, count = DESCENT
    if not newest + count <= len(rows) < BEFORE:
        return False
    before = rows[-newest - count : -newest]
    highest = max(before[-near:])
    rise = min(rows[-newest:]) - highest
    if rise <= MIN_RISE or highest <= math.log(NEAR_ZERO) or len(set(before)) <= count // 2:
        return False
    bends = [
        abs(row - (earlier + later) / 2)
        for earlier, row, later in zip(before, before[1:], before[2:], strict=False)
    ]
    return rise > BENDS * median(bends) and rise > MAX_BENT * max(bends)


def leaps(before: Sequence[float], y: float) -> int:
    """How many of the newest rows, of which `y` is the last, are all far above the calm ones before
    them; 0 if none.
    """
    for count, least in _LEAPS:
        if len(before) < count - 1 + REFERENCE:
            return 0
        mark = before[-count] + least
        if y <= mark or before[-1] <= mark:
            continue
        reference = before[-count - REFERENCE + 1 : 1 - count]
        highest = max(reference)
        lowest_newer = min(before[1 - count :])
        if min(lowest_newer, y) > highest + least and highest - min(reference) < _WITHIN:
            return count
    return 0


def _begin_shift(
    state: LossState, count: int, usual: float, highest: float, is_declared: bool
) -> None:
    """Begin an excursion with the newest rows, which do not count as usual. Within an open spike
    they are the same excursion, and have its beginning.
    """
    rows, steps = state.recent[-count:], state.recent_steps[-count:]
    for step, y in zip(steps, rows, strict=True):
        state.shifted.extend(step, y - usual, math.exp(usual), 0.0, is_declared, count)
    streak, spike = state.shifted.streak, state.spike.streak
    assert streak is not None
    streak.first_step = spike.first_step if spike else streak.first_step
    state.shift_floor = max(highest, usual + _STAYS)
    del state.recent[-count:], state.recent_steps[-count:]
    state.rises_above, state.above = [], 0


def _begin_raised(state: LossState, is_declared: bool) -> None:
    """Begin a raised level with the newest rows, which stay in the comparisons."""
    before = sorted(state.recent[-MANY - MANY_BEFORE : -MANY])
    usual = median(before)
    rows = zip(state.recent_steps[-MANY:], state.recent[-MANY:], strict=True)
    for step, y in rows:
        state.raised.extend(step, y - usual, math.exp(usual), 0.0, is_declared, MANY)
    state.raised_floor = before[-1 - FEW]


def _stay_raised(state: LossState, step: int, y: float) -> None:
    """Follow a raised level, for as long as it is remembered what was usual."""
    streak = state.raised.streak
    assert streak is not None
    if streak.rows >= MAX_ROWS:
        state.raised.end("raised", "loss")
    elif y > state.raised_floor:
        state.raised.extend(step, y - math.log(streak.expected), streak.expected, 0.0)
    else:
        state.raised.within("raised", "loss", FEW)


def _go_on(state: LossState, step: int, y: float) -> None:
    """Follow an open shift: still high, or back; after `MAX_ROWS` rows the level is the usual
    one.
    """
    streak = state.shifted.streak
    assert streak is not None
    excess = y - math.log(streak.expected)
    if streak.rows >= MAX_ROWS:
        state.shifted.end("shifted", "loss")
        state.recent, state.recent_steps = [], []
    elif y > state.shift_floor:
        state.shifted.extend(step, excess, streak.expected, 0.0)
    else:
        state.shifted.within("shifted", "loss")
