"""What the newest rows show by themselves, where the trend is no help yet.

A trend lags above a loss that has just come down, and of a young curve only the highest value is
known. A dozen rows that hardly differ say enough of what is usual to see a leap; and ten rows that
all lie above thirty before them are another level, whatever the trend still expects: half as high
again, or, where rows are far apart, a fifth higher and eight times the usual move from row to row.
There the noise of the trend is that of the first descent for tens of thousands of steps.

Three rows at twice the highest of eight calm rows before them, or five at one and a half, need
neither a trend nor a noise: by chance five rows lie above eight others once in 1,287 times, and
hardly ever so far above calm ones.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

from herorun.core.averages import median
from herorun.core.detectors.excursion import ExcursionWatch
from herorun.core.detectors.loss_state import LossState

CALM = 12  # rows of a young curve that lie within ...
WITHIN = 2.0  # ... this factor
LEAPT = 5.0  # times the highest of them, from which on a row is a leap
NEWEST, BEFORE = 10, 30  # rows whose levels are compared
SHIFTED = 1.5  # times the median of the rows before
LEAST = 1.2  # times it: each of the newest rows
OUTLIERS = 1  # of the rows before, that may lie above the newest
LONGEST = 500  # rows in which the level before is remembered
STEPPED = 1.2  # times the median of the rows before, where that is ...
STEP_MOVES = 8.0  # ... so many times the usual move between them
SPARSE = 20  # steps between two rows, from which on they are far apart
STAYS = 1.1  # times it, down to which a step goes on
# rows of a curve until which the thirty before the newest ten are its first descent: a step is
# then compared with the eight before them, which all the newest must exceed
DESCENT = 2 * (NEWEST + BEFORE)
REFERENCE = 8  # rows, within the factor of calm ones, that all newer ones lie above:
AT_ONCE, TWICE = 3, 2.0  # so many rows by so many times the highest of them, ...
SUSTAINED, HALF_MORE = 5, 1.5  # ... or so many by so many times
KINDS = ("shifted", "stepped")

_WITHIN, _LEAPT = math.log(WITHIN), math.log(LEAPT)
_SHIFTED, _LEAST = math.log(SHIFTED), math.log(LEAST)
_STEPPED, _STAYS = math.log(STEPPED), math.log(STAYS)
LEAST_LEAP = math.log(HALF_MORE)
_LEAPS = ((AT_ONCE, math.log(TWICE)), (SUSTAINED, math.log(HALF_MORE)))
_NEWEST = (1 << NEWEST) - 1
RULES = (
    CALM,
    WITHIN,
    LEAPT,
    NEWEST,
    BEFORE,
    SHIFTED,
    LEAST,
    OUTLIERS,
    LONGEST,
    STEPPED,
    STEP_MOVES,
    SPARSE,
    STAYS,
    DESCENT,
    REFERENCE,
    AT_ONCE,
    TWICE,
    SUSTAINED,
    HALF_MORE,
)


def calm_level(state: LossState, y: float) -> float | None:
    """The highest of a dozen calm rows that this one leaps above, or the spike's first row did;
    None where the rows before were not calm, or it is no leap.
    """
    if state.spike.streak is None:
        rows = state.recent[-CALM:]
        highest = max(rows, default=y)
        is_calm = len(rows) == CALM and highest - min(rows) < _WITHIN
        state.calm = highest if is_calm and y > highest + _LEAPT else None
    return state.calm


def follow_level(state: LossState, step: int, y: float, declared: bool) -> None:
    """One row more: whether the newest rows all stand on a higher level than those before."""
    rows, steps = state.recent, state.recent_steps
    if state.shifted.streak is not None:
        _go_on(state.shifted, "shifted", step, y, _SHIFTED)
        return
    if state.stepped.streak is not None:
        _go_on(state.stepped, "stepped", step, y, _STAYS)
        return
    count = leaps(rows, y)
    rows.append(y)
    steps.append(step)
    if count:
        _begin_shift(state, count, declared)
        return
    if len(rows) <= NEWEST:
        return
    # each of the newest rows lies above the one ten rows earlier, but for an outlier there
    state.above = (state.above << 1 | (y > rows[-NEWEST - 1])) & _NEWEST
    if len(rows) > NEWEST + BEFORE:
        del rows[0], steps[0]
    if state.above.bit_count() < NEWEST - OUTLIERS:
        return
    if len(rows) == NEWEST + BEFORE:
        _compare(state, declared)
    if state.trend.rows <= DESCENT and len(state.recent) >= NEWEST + REFERENCE:
        _compare_young(state, declared)


def leaps(before: Sequence[float], y: float) -> int:
    """How many of the newest rows, of which `y` is the last, all lie far above each of the calm
    ones before them; 0 where they do not.
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


def _begin_shift(state: LossState, count: int, declared: bool) -> None:
    rows = state.recent
    usual = median(rows[-count - REFERENCE : -count])
    for step, y in zip(state.recent_steps[-count:], rows[-count:], strict=True):
        state.shifted.extend(step, y - usual, math.exp(usual), 0.0, declared, count)
    state.recent, state.recent_steps, state.above = [], [], 0


def _compare(state: LossState, declared: bool) -> None:
    before, newest = state.recent[:BEFORE], state.recent[BEFORE:]
    usual, lowest, rise = median(before), min(newest), median(newest) - median(before)
    if lowest <= sorted(before)[-1 - OUTLIERS]:
        return
    if lowest > usual + _LEAST and rise > _SHIFTED:
        watch = state.shifted
    elif _is_step(state, before, rise):
        watch = state.stepped
    else:
        return
    _begin_window(state, watch, before, declared)


def _begin_window(
    state: LossState, watch: ExcursionWatch, before: list[float], declared: bool
) -> None:
    """The newest rows, as the first ones of an excursion from the median of those before."""
    usual = median(before)
    for step, y in zip(state.recent_steps[-NEWEST:], state.recent[-NEWEST:], strict=True):
        watch.extend(step, y - usual, math.exp(usual), 0.0, declared, NEWEST)
    state.recent, state.recent_steps, state.above = [], [], 0


def _compare_young(state: LossState, declared: bool) -> None:
    """A step among the first rows, from eight that differ by less than it. By chance ten rows lie
    above eight others once in 43,758 times, and hardly ever so far.
    """
    newest = state.recent[-NEWEST:]
    before = state.recent[-NEWEST - REFERENCE : -NEWEST]
    is_calm = max(before) - min(before) < _STEPPED
    is_above = min(newest) > max(before)
    if is_calm and is_above and _is_step(state, before, median(newest) - median(before)):
        _begin_window(state, state.stepped, before, declared)


def _is_step(state: LossState, before: list[float], rise: float) -> bool:
    steps = state.recent_steps
    if rise <= _STEPPED or steps[-1] - steps[-NEWEST] <= SPARSE * (NEWEST - 1):
        return False
    return rise > STEP_MOVES * median(abs(y - x) for x, y in pairwise(before))


def _go_on(watch: ExcursionWatch, kind: str, step: int, y: float, least: float) -> None:
    """Up still, or back; after `LONGEST` rows it is what is usual."""
    assert watch.streak is not None
    excess = y - math.log(watch.streak.expected)
    if excess > least and watch.streak.rows < LONGEST:
        watch.extend(step, excess, watch.streak.expected, 0.0)
    else:
        watch.within(kind, "loss", 0 if watch.streak.rows >= LONGEST else 1)
