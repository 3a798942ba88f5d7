"""Step time: a collapse against the recent usual, and a slow leak against the best so far.

Three clocks show it: the reported step time, a reported rate, and the wall clock by half hours from
the attempt's start, which alone sees the gaps between steps. The first rows of an attempt compile
and warm up, and do not count. The state also holds how long rows may be missing, because
evaluations and saves interrupt them regularly.
"""

import math
from dataclasses import field

from herorun.core.detectors.baseline import RATE, SETTLE, Trend
from herorun.core.detectors.excursion import ExcursionWatch
from herorun.core.evidence import Excursion
from herorun.core.lazy_dataclass import dataclass

SLOW = 0.75  # of the usual: the middle of manage-hero-run's 20-30 % below
SLOW_WALL = 0.70  # lower, because it includes evaluations and saves
LEAK = 0.95
LEAK_NOISE = 1.0  # of the noise, which a smoothed level does not waver by
WARM = 5  # rows
FREEZE = 500
UNIT = 20.0  # times the usual: a lasting change so large means another unit
FREEZE_ROWS = 3
BIN = 1800.0  # seconds of the wall clock
SETTLE_BINS = 4
FADE = 0.9995  # per row: a pause that does not repeat decays within thousands of rows

_SLOW, _SLOW_WALL, _LEAK, _UNIT = (
    -math.log(SLOW),
    -math.log(SLOW_WALL),
    -math.log(LEAK),
    math.log(UNIT),
)
RULES = (SLOW, SLOW_WALL, LEAK, LEAK_NOISE, WARM, FREEZE, UNIT, FREEZE_ROWS, BIN, SETTLE_BINS, FADE)


@dataclass(slots=True, kw_only=True)
class Speed:
    trend: Trend = field(default_factory=Trend)
    slow: ExcursionWatch = field(default_factory=ExcursionWatch)
    leak: ExcursionWatch = field(default_factory=ExcursionWatch)
    smooth: float = 0.0
    best: float = 0.0
    settled: bool = False
    warm: int = 0  # rows of this attempt
    last: float | None = None  # the previous row's step, or its time if a rate is reported

    def excursions(self, metric: str) -> list[Excursion]:
        return [*self.slow.excursions("slow", metric), *self.leak.excursions("leak", metric)]


def judge_time(
    state: Speed, metric: str, step: int, seconds: float, is_declared: bool, boundary: bool
) -> None:
    """Judge the time that a step takes."""
    before, state.last = state.last, float(step)
    duration = seconds * max(step - before, 0.0) if before is not None else None
    judge_speed(
        state, metric, step, seconds, is_declared=is_declared, boundary=boundary, duration=duration
    )


def judge_rate(
    state: Speed,
    metric: str,
    step: int,
    rate: float,
    *,
    is_declared: bool,
    boundary: bool,
    at: float | None,
) -> None:
    """Judge a rate by its inverse; the duration is known only by the rows' times."""
    before, state.last = state.last, at
    duration = max(at - before, 0.0) if at is not None and before is not None else None
    judge_speed(
        state, metric, step, 1 / rate, is_declared=is_declared, boundary=boundary, duration=duration
    )


def judge_speed(
    state: Speed,
    metric: str,
    step: int,
    seconds: float,
    *,
    is_declared: bool,
    boundary: bool,
    duration: float | None,
) -> None:
    """Judge the time that a step takes. `duration`: seconds since the row before."""
    if seconds <= 0.0:
        return
    state.warm += 1
    if state.warm <= WARM:
        return
    y, trend, slow = math.log(seconds), state.trend, state.slow
    excess = y - trend.level
    if trend.rows >= SETTLE and excess > _SLOW:
        streak = slow.extend(step, excess, math.exp(trend.level), trend.scale, is_declared)
        if duration is not None:
            streak.seconds = (streak.seconds or 0.0) + duration
        if streak.rows > FREEZE:
            slow.end("slow", metric)
            trend.reset(y)
            state.settled = state.settled and excess <= _UNIT
    elif slow.streak is not None:
        slow.within("slow", metric)
    if slow.streak is None or slow.streak.rows < FREEZE_ROWS:
        trend.learn(y)
        _leak(state, metric, step, y, is_declared, boundary)


def _leak(
    state: Speed, metric: str, step: int, y: float, is_declared: bool, boundary: bool
) -> None:
    trend = state.trend
    if not state.settled:
        if trend.rows >= SETTLE:
            state.settled, state.smooth, state.best = True, trend.level, trend.level
        return
    widest, move = 3 * trend.scale, y - state.smooth
    if not -widest <= move <= widest:
        move = widest if move > 0.0 else -widest
    state.smooth = smooth = state.smooth + RATE * move
    if smooth < state.best or boundary:
        state.best = smooth
    loss = smooth - state.best
    if loss > _LEAK and loss > LEAK_NOISE * trend.scale:
        state.leak.extend(step, loss, math.exp(state.best), trend.scale, is_declared)
    elif state.leak.streak is not None:
        state.leak.within("leak", metric, 0)


@dataclass(slots=True)
class Wall:
    """Steps by the wall clock. Each finished half hour is one value."""

    began: float | None = None  # seconds since the epoch, of the bin under way
    step: int = 0  # at its beginning
    bins: int = 0
    usual: float = 0.0  # steps a second, the mean of the bins so far, then a slow average
    slow: ExcursionWatch = field(default_factory=ExcursionWatch)

    def excursions(self) -> list[Excursion]:
        return self.slow.excursions("wall", "steps by the wall clock")


def judge_wall(state: Wall, step: int, at: float, is_declared: bool) -> None:
    if state.began is None or at < state.began:
        state.began, state.step = at, step
        return
    seconds = at - state.began
    if seconds < BIN:
        return
    pace = (step - state.step) / seconds
    state.began, state.step = at, step
    if pace <= 0.0:
        return
    excess = math.log(state.usual / pace) if state.bins >= SETTLE_BINS else 0.0
    if excess > _SLOW_WALL:
        state.slow.extend(step, excess, state.usual, 0.0, is_declared)
        return
    state.slow.within("wall", "steps by the wall clock", 0)
    state.bins += 1
    state.usual += (pace - state.usual) / min(state.bins, 48)


@dataclass(slots=True)
class Pauses:
    """The longest recent pauses between rows of one attempt, in seconds. A single one may have been
    an outage.
    """

    last: float | None = None  # when the newest row was written, in seconds since the epoch
    longest: float = 0.0
    second: float = 0.0

    @property
    def usual(self) -> float | None:
        """The longest pause that occurred twice; None if there is none."""
        return self.second or None


def judge_pause(state: Pauses, at: float) -> None:
    before, state.last = state.last, at
    if before is None or at <= before:
        return
    pause = at - before
    state.longest *= FADE
    state.second *= FADE
    if pause > state.longest:
        state.longest, state.second = pause, state.longest
    elif pause > state.second:
        state.second = pause
