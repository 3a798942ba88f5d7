"""The gradient norm before clipping: explosions, slow growth over thousands of rows, and zeros."""

import math
from dataclasses import field

from herorun.core.detectors.baseline import SETTLE, Trend
from herorun.core.detectors.excursion import ExcursionWatch
from herorun.core.evidence import Excursion
from herorun.core.lazy_dataclass import dataclass

EXPLOSION_RATIO = 10.0
FREEZE = 500
FREEZE_ROWS = 3
FAST_RATE = 1 - 2 ** (-1 / 200)
SLOW_RATE = 1 - 2 ** (-1 / 5000)
CREEP = 3.0
EASE = 1 / 500  # per row: how fast the norm before a vanished one decays, as a logarithm
BACK = 2.0  # times the norm before it vanished: up to that it has only returned

_EXPLOSION_RATIO, _CREEP, _BACK = math.log(EXPLOSION_RATIO), math.log(CREEP), math.log(BACK)
RULES = (EXPLOSION_RATIO, FREEZE, FREEZE_ROWS, FAST_RATE, SLOW_RATE, CREEP, EASE, BACK)


@dataclass(slots=True, kw_only=True)
class Norm:
    trend: Trend = field(default_factory=Trend)
    explosion: ExcursionWatch = field(default_factory=ExcursionWatch)
    creep: ExcursionWatch = field(default_factory=ExcursionWatch)
    vanished: ExcursionWatch = field(default_factory=ExcursionWatch)
    usual: float = -math.inf  # the trend; after a fall, for some hundred rows, the value before
    fast: float = 0.0
    slow: float = 0.0

    def excursions(self, metric: str) -> list[Excursion]:
        return [
            *self.explosion.excursions("explosion", metric),
            *self.creep.excursions("creep", metric),
            *self.vanished.excursions("vanished", metric),
        ]


def judge_norm(
    state: Norm, metric: str, step: int, value: float, fresh: bool, is_declared: bool
) -> None:
    if value <= 0.0:
        if value == 0.0 and state.trend.rows >= SETTLE:
            state.vanished.extend(step, 0.0, math.exp(state.trend.level), 0.0, is_declared)
        return
    if state.vanished.streak is not None:
        state.vanished.within("vanished", metric, 0)
    y, trend = math.log(value), state.trend
    if not trend.rows:
        trend.reset(y)
        state.fast = state.slow = y
        return
    excess, explosion = y - trend.level, state.explosion
    if excess > _EXPLOSION_RATIO and y > state.usual + _BACK:
        # a return from almost zero to the usual norm is no explosion
        noise = (
            trend.scale
            if trend.rows >= SETTLE
            else max(trend.jitter / max(trend.rows - 1, 1), trend.scale)
        )
        streak = explosion.extend(step, excess, math.exp(trend.level), noise, is_declared)
        if streak.rows > FREEZE:
            explosion.end("explosion", metric)
            trend.reset(y)
    elif explosion.streak is not None:
        explosion.within("explosion", metric)
    if fresh and (explosion.streak is None or explosion.streak.rows < FREEZE_ROWS):
        trend.learn(y)
        if trend.rows >= SETTLE:
            level, eased_level = trend.level, state.usual - EASE
            state.usual = level if level > eased_level else eased_level
        _creep(state, metric, step, y, is_declared)


def _creep(state: Norm, metric: str, step: int, y: float, is_declared: bool) -> None:
    rows = state.trend.rows
    mean = 1 / rows
    state.fast += (mean if mean > FAST_RATE else FAST_RATE) * (y - state.fast)
    state.slow += (mean if mean > SLOW_RATE else SLOW_RATE) * (y - state.slow)
    growth = state.fast - state.slow
    if growth > _CREEP:
        state.creep.extend(step, growth, math.exp(state.slow), state.trend.scale, is_declared)
    elif state.creep.streak is not None:
        state.creep.within("creep", metric, 0)
