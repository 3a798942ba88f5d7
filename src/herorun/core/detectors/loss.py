"""The shape of the loss: spikes, a raised level, a slow rise, zeros, one value for ever, and
weights begun anew.

What is expected stands still while a spike lasts, from its third row on and for at most 500 rows;
then the new level is accepted. Before the trend has settled, the highest value so far is what is
expected, and a rise must stand out of the moves from row to row. It begins only among dense rows,
for where hundreds of steps lie between two of them a young curve may be anywhere; what has begun
goes on over a gap.
"""

import math
from dataclasses import dataclass, field

from herorun.core.detectors.baseline import RATE, SETTLE, Trend
from herorun.core.detectors.excursion import ExcursionWatch
from herorun.core.evidence import Excursion

RATIO = 1.5  # the seed's: more than 50 % above the expected trend
ALONE = 3.0  # the same, while one row is all there is to compare with
FREEZE = 500  # rows that an open spike may hold the trend still
FREEZE_YOUNG = 20
HELD = 3  # rows of a spike from which on the trend stands still
DENSE = 20  # steps between two rows of a young curve, at most
JITTERS = 4.0  # times the mean move from row to row, for a young curve
ELEVATED = 1.02
ELEVATED_NOISE = 6.0
DRIFT = 1.01
WIDEST = 4.0  # times the noise that one row may move the smoothed level by
DRIFT_NOISE = 1.7  # of the noise, which a smoothed level does not waver by
DIVERGED = 1.5
DIVERGED_NOISE = 3.0
LEARNED = 1.25  # what a curve must have fallen by before it can be called diverged
OPENING = 4  # rows by which the beginning of a run is known again
ALIKE = 0.1  # as a logarithm
# rows behind a loss below zero in which nothing is judged: it may cross zero, and no ratio says
# anything
SIGNED = 500
FORGOTTEN = 2.0  # how far below its beginning a curve must have been
FROZEN = 20  # rows of one and the same value, from which on it stands still
# times the longest such stretch before: some logs repeat a value until there is a new one
REPEATS = 5
CHANGES = 30  # other values that must have come before

_HIGH, _ALONE = math.log(RATIO), math.log(ALONE)
_ELEVATED, _DRIFT, _DIVERGED = math.log(ELEVATED), math.log(DRIFT), math.log(DIVERGED)
_LEARNED, _FORGOTTEN = math.log(LEARNED), math.log(FORGOTTEN)

RULES = (
    RATIO, ALONE, FREEZE, FREEZE_YOUNG, HELD, DENSE, JITTERS, ELEVATED, ELEVATED_NOISE, DRIFT, DRIFT_NOISE, WIDEST,  # noqa: E501  # one entry of a table, or one recorded value
    DIVERGED, DIVERGED_NOISE, LEARNED, OPENING, ALIKE, FORGOTTEN, SIGNED, FROZEN, REPEATS, CHANGES,
)  # fmt: skip


@dataclass(slots=True)
class LossState:
    """What the rows so far say of the loss."""

    trend: Trend = field(default_factory=Trend)
    spike: ExcursionWatch = field(default_factory=ExcursionWatch)
    elevated: ExcursionWatch = field(default_factory=ExcursionWatch)
    drift: ExcursionWatch = field(default_factory=ExcursionWatch)
    diverged: ExcursionWatch = field(default_factory=ExcursionWatch)
    collapsed: ExcursionWatch = field(default_factory=ExcursionWatch)
    untrained: ExcursionWatch = field(default_factory=ExcursionWatch)
    frozen: ExcursionWatch = field(default_factory=ExcursionWatch)
    newest: float = 0.0
    same: int = 0  # rows before this one that had its value
    longest_same: int = 0
    changes: int = 0
    smooth: float = 0.0  # a level that nothing holds still
    low: float = 0.0  # the lowest of it since it settled, or since a declared phase
    start: float = 0.0  # of it, when it settled
    lowest: float = 0.0  # the lowest of it ever
    settled: bool = False
    opening: list[float] = field(default_factory=list)
    matched: int = 0  # rows that repeat the opening
    last_step: int = 0
    signed: int = 0  # rows until a loss that was below zero is forgotten

    def told(self) -> list[Excursion]:
        kinds = ("elevated", "drift", "diverged", "collapsed", "untrained", "frozen")
        return [excursion for kind in kinds for excursion in getattr(self, kind).told(kind, "loss")]


def judge_loss(
    state: LossState,
    step: int,
    loss: float,
    fresh: bool,
    declared: bool,
    boundary: bool,
    before: float | None = None,
) -> None:
    """Judge one finite loss. `fresh`: beyond all steps so far. `before`: what an earlier attempt
    had at this step.
    """
    _frozen(state, step, loss, declared)
    if loss < 0.0 or state.signed:
        _signed(state, loss)
        return
    if loss == 0.0:
        if state.trend.rows or state.collapsed.streak:
            state.collapsed.over(step, 0.0, math.exp(state.trend.level), 0.0)
        return
    if state.collapsed.streak is not None:
        state.collapsed.within("collapsed", "loss", 0)
    y = math.log(loss)
    gap, state.last_step = step - state.last_step, step
    if not state.trend.rows:
        state.trend.begin(y)
        state.smooth = y
        state.opening = [y]
        return
    _opening(state, step, y)
    held = _spike(state, step, y, gap, declared, before)
    if fresh and not held:
        state.trend.learn(y)
        _level(state, step, y, declared, boundary)


def _frozen(state: LossState, step: int, loss: float, declared: bool) -> None:
    """No two batches have the same loss to the last digit, row after row. A loss of zero has a
    check of its own.
    """
    if loss != state.newest or loss == 0.0:
        state.frozen.end("frozen", "loss")
        state.longest_same = max(state.longest_same, state.same)
        state.newest, state.same = loss, 0
        state.changes += 1
        return
    state.same += 1
    if state.changes > CHANGES and state.same >= max(FROZEN, REPEATS * state.longest_same):
        state.frozen.over(step, 0.0, loss, 0.0, declared)


def _signed(state: LossState, loss: float) -> None:
    """A loss that was below zero has no trend to be held against; when it has not been so for long,
    it begins anew.
    """
    state.signed = SIGNED if loss < 0.0 else state.signed - 1
    if state.trend.rows:
        for kind in ("spike", "elevated", "drift", "diverged", "collapsed", "untrained"):
            getattr(state, kind).end(kind, "loss")
        state.trend, state.settled = Trend(), False


def _spike(
    state: LossState, step: int, y: float, gap: int, declared: bool, before: float | None
) -> bool:
    """Whether the trend must stand still."""
    trend, spike = state.trend, state.spike
    young = trend.rows < SETTLE
    if young:
        excess, noise = y - trend.top, trend.jitter / max(trend.rows - 1, 1)
    else:
        excess, noise = y - trend.level, trend.scale
    if before is not None and before > 0:
        excess = min(excess, y - math.log(before))
    if excess > _HIGH and (not young or _stands_out(state, excess, noise, gap)):
        streak = spike.over(
            step, excess, math.exp(trend.top if young else trend.level), noise, declared
        )
        if streak.rows > (FREEZE_YOUNG if young else FREEZE):
            spike.end("spike", "loss")
            trend.begin(y)
            return True
    elif spike.streak is not None:
        spike.within("spike", "loss")
    return spike.streak is not None and (young or spike.streak.rows >= HELD)


def _stands_out(state: LossState, excess: float, noise: float, gap: int) -> bool:
    """Whether a row of a young curve is more than its moves from row to row, and no gap explains
    it.
    """
    least = JITTERS * noise if state.trend.rows > 1 else _ALONE
    return excess > least and (gap <= DENSE or state.spike.streak is not None)


def _level(state: LossState, step: int, y: float, declared: bool, boundary: bool) -> None:
    trend = state.trend
    scale = trend.scale
    move = y - state.smooth
    widest = WIDEST * scale
    state.smooth = smooth = state.smooth + RATE * min(max(move, -widest), widest)
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
    if excess > _ELEVATED and excess > ELEVATED_NOISE * scale:
        state.elevated.over(step, excess, math.exp(trend.level), scale, declared)
    elif state.elevated.streak is not None:
        state.elevated.within("elevated", "loss")
    rise = smooth - state.low
    if rise > _DRIFT and rise > DRIFT_NOISE * scale:
        state.drift.over(step, rise, math.exp(state.low), scale, declared)
    elif state.drift.streak is not None:
        state.drift.within("drift", "loss", 0)
    rise = smooth - state.lowest
    if rise > _DIVERGED and rise > DIVERGED_NOISE * scale and state.lowest < state.start - _LEARNED:
        state.diverged.over(step, rise, math.exp(state.lowest), scale, declared)
    elif state.diverged.streak is not None:
        state.diverged.within("diverged", "loss", 0)


def _opening(state: LossState, step: int, y: float) -> None:
    """Weights that are begun anew repeat the first rows of the run, though it had learned long
    since.
    """
    opening, matched = state.opening, state.matched
    if len(opening) < OPENING:
        opening.append(y)
        return
    if matched == 0 and state.untrained.streak is not None:
        state.untrained.end("untrained", "loss")
    like = abs(y - opening[matched]) < ALIKE
    if matched == 0:
        learned = state.settled and min(state.trend.level, state.lowest) < y - _FORGOTTEN
        state.matched = 1 if like and learned else 0
    elif not like:
        state.matched = 0
    elif matched + 1 == OPENING:
        state.matched = 0
        state.untrained.over(step, opening[0] - state.lowest, math.exp(state.lowest), 0.0)
    else:
        state.matched = matched + 1
