"""Flat starts: a loss that falls at once to that of uninformative weights, and no further.

Such weights give every batch the same loss, so that there is hardly any noise. A warm-up, or a run
that starts from trained weights, also stays where it began. Some 60 values represent all rows so
far: when there are too many, the lower of each pair stays, and a loss that rises now and then
leaves its floor visible.
"""

import math
from dataclasses import field
from itertools import pairwise

from herorun.core.detectors.excursion import ExcursionWatch
from herorun.core.detectors.repeated_rows import RepeatedRows, follow_repeats
from herorun.core.evidence import Excursion
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_statistics import median

SKIP_ROWS = 3  # rows in which even a run that learns nothing falls to what untrained weights give
MIN_VALUES, MAX_VALUES = 30, 60  # values that represent the rows
STEPS = 500  # steps in which every run learns something
TIGHT = 0.01  # half of all values differ by less, as a logarithm
FELL, MAX_FALL = 0.02, 0.15  # the fall below the first rows, at least and at most, as logarithms
DEEPER = 0.002  # a fall of the smoothed loss below that level shows that the run learns after all
RATE = 1 - 2 ** (-1 / 10)  # of the smoothing
FALL = 0.005  # a smaller fall from the first half to the second, as a logarithm, is none
SURE = 2.0  # standard errors that chance explains
# Common numbers of classes, and vocabulary sizes of common tokenizers: untrained weights have their
# logarithm as loss.
CLASSES = (
    10, 100, 1000, 21841, 30522, 32000, 32768, 50257, 50304, 50432, 64000, 65536, 100277, 100352,
    128000, 128256, 151936, 152064, 250880, 256000,
)  # fmt: skip
ABOVE = (1.02, 1.2)  # times that logarithm: the range in which untrained weights begin
# times it: reached by untrained weights, and not reached by them
REACHED_RATIO, BELOW = 1.005, 0.997
SETTLES = 20  # rows in which untrained weights reach it
STANDS, STANDS_STEPS = 40, 800  # the slowest clean curve left that level after 32 rows
# The same sooner if most of the newest rows are above it: too large steps keep the loss above it,
# while a run that learns goes below it.
EARLY, EARLY_STEPS = 30, 500
NEW_ROWS, HIGHER = 20, 14
ABOVE_IT = 1.0005  # times it: a loss of two decimals may be rounded upwards
MOVES = 5  # differences from row to row, all above TIGHT: too few decimals to be flat
# So many rows need no trend. Rounding moves a sum of float32 by some units in the last place, 2^-23
# of the value; the losses of two batches never lie so near to each other unless the weights give
# every input the same output. Fewer digits than these may hide that they differ.
FIRST, ROUNDING, DIGITS = 8, 8 * 2.0**-23, 7
MAX_CLASSES = math.log(2**24)  # of a softmax: single precision counts no higher
# A record that begins so late has no first rows to be compared with. Trained weights give batches
# losses that differ by a per cent and more (a standard deviation of one nat an example, hundreds of
# examples); within a third of that around the logarithm of at least a hundred classes are weights
# that know nothing. Fewer classes have logarithms that good language models pass.
LATE_STEP, NEAR, MIN_CLASSES = 500, 0.003, 100

# Worse than that: untrained weights reach the logarithm of so many classes once they know the
# classes' frequencies. A loss that began slightly above it, never reached it, and has `HIGHER` of
# the newest rows above its first one is unstable.

RULES = (
    SKIP_ROWS, MIN_VALUES, MAX_VALUES, STEPS, TIGHT, FELL, MAX_FALL, DEEPER, RATE, FALL, SURE,
    *CLASSES, *ABOVE, REACHED_RATIO, BELOW, SETTLES, STANDS, STANDS_STEPS,
    EARLY, EARLY_STEPS, NEW_ROWS, HIGHER, ABOVE_IT, MOVES,
    FIRST, ROUNDING, DIGITS, MAX_CLASSES, LATE_STEP, NEAR, MIN_CLASSES,
)  # fmt: skip


@dataclass(slots=True, kw_only=True)
class FirstRows:
    rows: int = 0
    first: float = 0.0  # the highest of the first losses, as a logarithm
    first_loss: float = 0.0  # as a logarithm
    first_step: int = 0
    before: float = 0.0  # the newest loss, as a logarithm
    moves: int = 0  # from one loss to another
    finest: float = math.inf  # the smallest of them
    floor: float = math.inf  # the lowest of all losses, as a logarithm
    values: list[float] = field(default_factory=list)
    every: int = 1  # rows that one value represents
    lowest: float = math.inf  # of the rows of the next value
    level: float = 0.0  # the level of the flat loss
    smooth: float = 0.0  # the newest rows
    is_over: bool = False  # the run has learned, or the record does not begin at the beginning
    flat: ExcursionWatch = field(default_factory=ExcursionWatch)
    levels: tuple[float, ...] = ()  # levels of chance slightly below the first loss
    higher: int = 0  # a bit for each of the newest rows: above the lowest of these levels
    chance: ExcursionWatch = field(default_factory=ExcursionWatch)
    worse: tuple[float, ...] = ()  # those of these levels that no row has reached
    risen: int = 0  # a bit for each of the newest rows: above the first
    above: ExcursionWatch = field(default_factory=ExcursionWatch)
    losses: list[float] = field(default_factory=list)  # the first ones
    # levels of chance near which a record that begins late stays
    late_levels: tuple[float, ...] = ()
    one_number: bool = False  # all rows so far
    constant: ExcursionWatch = field(default_factory=ExcursionWatch)
    repeats: RepeatedRows = field(default_factory=RepeatedRows)

    @property
    def goes_on(self) -> bool:
        """Whether the next row may still matter for the beginning."""
        is_short = len(self.losses) < FIRST or not self.repeats.is_over
        levels = self.levels or self.worse or self.late_levels
        return is_short or not self.is_over or bool(levels or self.one_number)

    def excursions(self) -> list[Excursion]:
        kinds = ("flat", "chance", "above", "constant")
        excursions = [
            each for kind in kinds for each in getattr(self, kind).excursions(kind, "loss")
        ]
        return [*excursions, *self.repeats.watch.excursions("repeats", "loss")]


def follow(state: FirstRows, step: int, y: float, loss: float) -> None:
    """One more row of the beginning; `y` is the logarithm of its loss."""
    _follow_start(state, step, y)
    if state.levels or state.rows == 1:
        _follow_chance(state, step, loss)
    if state.worse:
        _follow_worse(state, step, loss)
    _follow_excerpt(state, step, loss)


def _follow_excerpt(state: FirstRows, step: int, loss: float) -> None:
    """Whether the first few rows show that nothing is learned: a constant loss, one that repeats
    its first rows, or a record from the middle of a training at the level of chance.
    """
    follow_repeats(state.repeats, step, loss)
    if len(state.losses) < FIRST:
        state.losses.append(loss)
        if len(state.losses) < FIRST:
            return
        state.late_levels = _late_levels(state, step)
        state.one_number = _is_one_number(state.losses)
    if state.one_number:
        _follow_one_number(state, step, loss)
    if state.late_levels:
        state.late_levels = tuple(
            level for level in state.late_levels if abs(loss - level) < NEAR * level
        )
    if state.late_levels:
        state.chance.extend(step, 0.0, state.late_levels[0], 0.0)
    elif not state.levels:
        state.chance.end("chance", "loss")


def _follow_one_number(state: FirstRows, step: int, loss: float) -> None:
    """Follows a constant loss. Weights whose last layer begins with zeros also have a constant one,
    the logarithm of the number of classes, until the warm-up moves them.
    """
    if abs(loss - state.losses[0]) > ROUNDING * loss:
        state.constant.end("constant", "loss")
        state.one_number = False
    elif step - state.first_step >= STEPS or not _may_be_logarithm(loss):
        state.constant.extend(step, 0.0, loss, 0.0)


def _late_levels(state: FirstRows, step: int) -> tuple[float, ...]:
    """The levels of chance near which all first rows are, for a record that begins late."""
    begins_late = state.first_step >= LATE_STEP and state.first_step > 2 * (step - state.first_step)
    if not begins_late or len(set(state.losses)) < FIRST / 2:
        return ()
    levels = (math.log(classes) for classes in CLASSES if classes >= MIN_CLASSES)
    return tuple(
        level for level in levels if all(abs(x - level) < NEAR * level for x in state.losses)
    )


def _may_be_logarithm(loss: float) -> bool:
    """Whether the loss may be the logarithm of a whole number, in single precision."""
    if not 0.0 < loss < MAX_CLASSES:
        return False
    classes = math.exp(loss)
    return abs(classes - round(classes)) <= classes * ROUNDING * loss


def _is_one_number(losses: list[float]) -> bool:
    digits = max(len(repr(loss).strip("0.").replace(".", "").partition("e")[0]) for loss in losses)
    return digits >= DIGITS and max(losses) - min(losses) <= ROUNDING * max(losses)


def _follow_chance(state: FirstRows, step: int, loss: float) -> None:
    """Whether a loss that began slightly above chance fell to it at once, and never below.

    Jumps upwards do not matter: weights that overshoot return to the same floor.
    """
    if state.rows == 1:
        low, high = ABOVE
        levels = (math.log(classes) for classes in CLASSES)
        state.levels = tuple(level for level in levels if low * level <= loss <= high * level)
        state.worse = tuple(level for level in state.levels if level >= math.log(MIN_CLASSES))
        return
    possible = tuple(level for level in state.levels if loss >= BELOW * level)
    if state.rows == SETTLES:
        lowest = math.exp(state.floor)
        possible = tuple(level for level in possible if lowest <= REACHED_RATIO * level)
    if not possible or (state.rows == 2 and state.first_step > 2 * (step - state.first_step)):
        state.chance.end("chance", "loss")
        state.levels = ()
        return
    state.levels = possible
    state.higher = (state.higher << 1 | (loss > ABOVE_IT * possible[0])) & ((1 << NEW_ROWS) - 1)
    if state.chance.streak is not None or _stands(state, step - state.first_step):
        state.chance.extend(step, 0.0, possible[0], 0.0)


def _follow_worse(state: FirstRows, step: int, loss: float) -> None:
    """Whether a loss that began slightly above chance never fell to it."""
    if state.rows == 2 and state.first_step > 2 * (step - state.first_step):
        state.worse = ()
    state.worse = tuple(level for level in state.worse if loss > REACHED_RATIO * level)
    if not state.worse:
        state.above.end("above", "loss")
        return
    is_above = math.log(loss) > state.first_loss
    state.risen = (state.risen << 1 | is_above) & ((1 << NEW_ROWS) - 1)
    stands = state.rows >= STANDS and step - state.first_step >= STANDS_STEPS
    if state.above.streak is not None or (stands and state.risen.bit_count() >= HIGHER):
        state.above.extend(step, 0.0, state.worse[0], 0.0)


def _stands(state: FirstRows, steps: int) -> bool:
    if state.rows >= STANDS and steps >= STANDS_STEPS:
        return True
    is_early = state.rows >= EARLY and steps >= EARLY_STEPS
    return is_early and state.higher.bit_count() >= HIGHER


def _follow_start(state: FirstRows, step: int, y: float) -> None:
    """Add a row, with its loss as a logarithm."""
    state.rows += 1
    if y < state.floor:
        state.floor = y
    if state.rows == 1:
        state.first_step, state.first, state.first_loss, state.before = step, y, y, y
        return
    if y != state.before:
        state.moves += 1
        state.finest = min(state.finest, abs(y - state.before))
        state.before = y
    if state.rows == 2 and state.first_step > 2 * (step - state.first_step):
        state.is_over = True  # the record lacks the earlier rows
    if state.rows <= SKIP_ROWS:
        state.first = max(state.first, y)
    if state.is_over or state.rows <= SKIP_ROWS:
        return
    if state.flat.streak is not None:
        _go_on(state, step, y)
        return
    if y < state.lowest:
        state.lowest = y
    if (state.rows - SKIP_ROWS) % state.every == 0:
        state.values.append(state.lowest)
        state.lowest = math.inf
        _weigh(state, step)


def _go_on(state: FirstRows, step: int, y: float) -> None:
    state.smooth += RATE * (min(y, state.level + TIGHT) - state.smooth)
    if state.smooth >= state.level - DEEPER:
        state.flat.extend(step, y - state.level, math.exp(state.level), 0.0)
        return
    state.flat.end("flat", "loss")
    state.is_over = True


def _weigh(state: FirstRows, step: int) -> None:
    values = state.values
    if len(values) >= MIN_VALUES and step - state.first_step >= STEPS:
        state.level = level = median(values)
        state.is_over = level < state.first - MAX_FALL
        is_coarse = state.moves >= MOVES and state.finest > TIGHT
        fell = level <= state.first - FELL
        if not state.is_over and fell and not is_coarse and _still(values):
            state.flat.extend(step, 0.0, math.exp(level), 0.0)
            state.smooth = level
        if state.is_over or state.flat.streak is not None:
            state.values = []
            return
    if len(values) >= MAX_VALUES:
        state.values = [min(pair) for pair in zip(values[::2], values[1::2], strict=False)]
        state.every *= 2


def stands_from_the_first(state: FirstRows, step: int) -> bool:
    """Whether the loss has not moved since its first rows, and no more specific rule applies."""
    values, excursions = state.values, (state.flat, state.chance, state.above, state.constant)
    if state.is_over or any(watch.streak is not None for watch in excursions):
        return False
    is_enough = len(values) >= MIN_VALUES and step - state.first_step >= STEPS
    return is_enough and abs(median(values) - state.first) < FELL and _still(values)


def _still(values: list[float]) -> bool:
    """Whether most values are close above their floor, and the second half is hardly lower."""
    half = len(values) // 2
    if median(values) - sorted(values)[len(values) // 10] > TIGHT:
        return False
    moves = median(abs(after - before) for before, after in pairwise(values))
    fall = median(values[:half]) - median(values[half:])
    error = SURE * 1.32 * moves * math.sqrt(2 / half)
    return fall <= error and fall + error <= FALL
