"""Metrics with a band that the contract states, and router metrics and z-losses against their usual
values.
"""

import math
from dataclasses import field

from herorun.core.detectors.baseline import SETTLE, Trend
from herorun.core.detectors.excursion import ExcursionWatch
from herorun.core.evidence import Excursion
from herorun.core.lazy_dataclass import dataclass

FAR = 3.0  # times the usual value, or a third of that value
NOISE = 8.0
FREEZE = 500
FREEZE_ROWS = 3

_FAR = math.log(FAR)
RULES = (FAR, NOISE, FREEZE, FREEZE_ROWS)


@dataclass(slots=True)
class TrendDeviation:
    trend: Trend = field(default_factory=Trend)
    away: ExcursionWatch = field(default_factory=ExcursionWatch)

    def excursions(self, metric: str) -> list[Excursion]:
        return self.away.excursions("wander", metric)


def judge_trend_deviation(
    state: TrendDeviation, metric: str, step: int, value: float, fresh: bool, is_declared: bool
) -> None:
    """Compares a metric without a band with its own trend, upwards and downwards."""
    if value <= 0.0:
        return
    y, trend, away = math.log(value), state.trend, state.away
    excess = y - trend.level
    if trend.rows >= SETTLE and abs(excess) > max(_FAR, NOISE * trend.scale):
        streak = away.extend(step, excess, math.exp(trend.level), trend.scale, is_declared)
        if streak.rows > FREEZE:
            away.end("wander", metric)
            trend.reset(y)
    elif away.streak is not None:
        away.within("wander", metric)
    if fresh and (away.streak is None or away.streak.rows < FREEZE_ROWS):
        trend.learn(y)


def judge_band(
    watch: ExcursionWatch, metric: str, step: int, value: float, least: float, most: float
) -> None:
    """Compares a metric with its band. The peak is the ratio to the bound that it passed, if that
    is defined.
    """
    if least <= value <= most:
        if watch.streak is not None:
            watch.within("band", metric)
        return
    passed_bound = least if value < least else most
    excess = (
        math.log(value / passed_bound)
        if value > 0 and passed_bound > 0
        else math.copysign(math.inf, value - passed_bound)
    )
    watch.extend(step, excess, passed_bound, 0.0)
