"""Trends as folds: `(state, rows) -> state`, in steps and not in ticks.

A tick costs the new rows only. The state is a plain value, cached by its cursor, and can always be rebuilt from
the rows. Every row is judged in order, however rarely somebody looks.

The trend is a winsorised exponential average of the logarithm: it follows a falling loss fast and a rising one
slowly, and it stands still while a streak is open, for at most 500 rows, so that a spike cannot raise its own
expectation and a new level is accepted in the end.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from herorun.core.canonical import digest
from herorun.core.evidence import Excursion, Metrics
from herorun.core.ports import Row

HALF_LIFE = 50  # rows
SETTLE = 20  # rows before a trend is trusted
FLOOR = 0.003  # smallest scale of the noise, in log units
FREEZE = 500  # rows that an open streak may hold the trend still
RATIO = 1.5  # the seed's: more than 50 % above the expected trend
MISSES = 1  # rows back in bounds that do not yet end a streak
KEPT = 8  # closed excursions of one metric that are remembered


def _no_later(written: datetime | None, seen: datetime | None) -> datetime | None:
    """A row is no younger than the source it stands in: one that is stamped in the future would hide a hang."""
    return min(written, seen) if written and seen else written or seen


def rules_digest() -> str:
    """Names the constants and the state's shape: a cached state of other rules is folded anew."""
    return digest([2, HALF_LIFE, SETTLE, FLOOR, FREEZE, RATIO, MISSES, KEPT])


@dataclass(frozen=True)
class Trend:
    level: float = 0.0  # of the logarithm
    scale: float = FLOOR
    rows: int = 0


@dataclass(frozen=True)
class Streak:
    """An excursion under way."""

    first_step: int
    last_step: int
    rows: int
    peak: float
    expected: float
    misses: int = 0


@dataclass(frozen=True)
class MetricsState:
    """What the rows so far amount to. Steps are completed updates."""

    cursor: str = ""
    rows: int = 0
    step: int = 0
    first_step: int = 0
    high_water: int = 0
    fresh: bool = True  # whether the newest step is beyond all before it
    attempts: int = 0
    advanced_at: datetime | None = None
    last: Mapping[str, float] = field(default_factory=dict)
    trend: Trend = Trend()
    high: Streak | None = None
    non_finite: Mapping[str, Streak] = field(default_factory=dict)  # open ones, by metric
    spikes: tuple[Excursion, ...] = ()  # closed, newest last
    ruptures: tuple[Excursion, ...] = ()  # closed non-finite ones
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Names:
    """Which of the tracker's columns is which."""

    loss: tuple[str, ...] = ("train/loss", "loss", "train_loss")
    watched: tuple[str, ...] = ("grad_norm", "grad/norm/total", "train/grad_norm")
    first_step: int = 0

    def loss_of(self, values: Mapping[str, float]) -> float | None:
        return next((values[name] for name in self.loss if name in values), None)


def fold_rows(
    state: MetricsState,
    rows: Iterable[Row],
    names: Names,
    seen_at: datetime | None = None,
    keep_closed: bool = False,
) -> MetricsState:
    """The state after these rows. `seen_at` stands in for the time of rows that have none of their own.

    Excursions that were closed before this call are forgotten first, unless `keep_closed`: each is reported
    once, by the tick that saw it end.
    """
    if not keep_closed:
        state = replace(state, spikes=(), ruptures=())
    for row in rows:
        state = _fold_row(state, row, names, seen_at)
    return state


def _fold_row(state: MetricsState, row: Row, names: Names, seen_at: datetime | None) -> MetricsState:
    step = row.step + 1 - names.first_step
    if state.rows and step == state.step:
        return _same_step(state, row, names)
    if not state.rows or step < state.step:
        state = replace(_close_all(state), attempts=state.attempts + 1, first_step=step)
    state = replace(state, step=step, fresh=step > state.high_water)
    state = _judge(state, row.values, names)
    return replace(
        state,
        rows=state.rows + 1,
        high_water=max(state.high_water, step),
        advanced_at=_no_later(row.at, seen_at) or state.advanced_at,
        last=dict(row.values),
    )


def _same_step(state: MetricsState, row: Row, names: Names) -> MetricsState:
    """Some trackers spread a step over several rows: what is new in this one is judged, a repetition is not."""
    new = {name: value for name, value in row.values.items() if name not in state.last}
    if names.loss_of(state.last) is not None:
        new = {name: value for name, value in new.items() if name not in names.loss}
    return replace(
        _judge(state, new, names),
        rows=state.rows + 1,
        last={**state.last, **row.values},
    )


def _judge(state: MetricsState, values: Mapping[str, float], names: Names) -> MetricsState:
    state = _judge_finite(state, values, names)
    loss = names.loss_of(values)
    if loss is not None and math.isfinite(loss) and loss > 0:
        return _judge_loss(state, loss)
    return state


def _judge_loss(state: MetricsState, loss: float) -> MetricsState:
    y, step, trend = math.log(loss), state.step, state.trend
    excess = y - trend.level
    settled = trend.rows >= SETTLE
    high = settled and excess > math.log(RATIO)
    streak = state.high
    if high:
        expected, ratio = math.exp(trend.level), math.exp(min(excess, 700.0))
        streak = (
            replace(streak, last_step=step, rows=streak.rows + 1, peak=max(streak.peak, ratio), misses=0)
            if streak
            else Streak(step, step, 1, ratio, expected)
        )
        state = replace(state, high=streak)
    elif streak and streak.misses < MISSES:
        state = replace(state, high=replace(streak, misses=streak.misses + 1))
    elif streak:
        state = replace(state, high=None, spikes=_kept(state.spikes, _closed("loss", streak)))
    frozen = state.high is not None and state.high.rows <= FREEZE
    return replace(state, trend=_learn(trend, y)) if state.fresh and not frozen else state


def _learn(trend: Trend, y: float) -> Trend:
    """Move the level towards a new value, its step clipped to what the noise explains."""
    if not trend.rows:
        return Trend(y, FLOOR, 1)
    rows = trend.rows + 1
    rate = max(1 - 2 ** (-1 / HALF_LIFE), 1 / rows)
    excess = y - trend.level
    scale = max(trend.scale, FLOOR)
    low, high = (-6 * scale, 2 * scale) if rows > HALF_LIFE else (-0.5, 0.5)
    clipped = min(max(excess, low), high)
    widened = scale + rate * (1.2533 * min(abs(excess), 3 * scale) - scale)
    return Trend(trend.level + rate * clipped, max(widened, FLOOR), rows)


def _judge_finite(state: MetricsState, values: Mapping[str, float], names: Names) -> MetricsState:
    watched, step = (*names.loss, *names.watched), state.step
    open_now = dict(state.non_finite)
    closed = state.ruptures
    for name, value in values.items():
        if name not in watched:
            continue
        streak = open_now.get(name)
        if not math.isfinite(value):
            open_now[name] = (
                replace(streak, last_step=step, rows=streak.rows + 1)
                if streak
                else Streak(step, step, 1, math.inf, math.nan)
            )
        elif streak:
            closed = _kept(closed, _closed(name, streak))
            del open_now[name]
    if open_now == state.non_finite and closed is state.ruptures:
        return state
    return replace(state, non_finite=open_now, ruptures=closed)


def _close_all(state: MetricsState) -> MetricsState:
    """A new attempt: what was open ended with the old one, and is still to be told."""
    spikes, ruptures = state.spikes, state.ruptures
    if state.high:
        spikes = _kept(spikes, _closed("loss", state.high))
    for name, streak in sorted(state.non_finite.items()):
        ruptures = _kept(ruptures, _closed(name, streak))
    return replace(state, high=None, non_finite={}, spikes=spikes, ruptures=ruptures)


def _closed(metric: str, streak: Streak, still_open: bool = False) -> Excursion:
    return Excursion(
        metric, streak.first_step, streak.last_step, streak.rows, streak.peak, streak.expected, still_open
    )


def _kept(excursions: tuple[Excursion, ...], new: Excursion) -> tuple[Excursion, ...]:
    """With the new one; of too many of one metric the slightest goes, never the long one that matters."""
    grown = (*excursions, new)
    same = [excursion for excursion in grown if excursion.metric == new.metric]
    if len(same) <= KEPT:
        return grown
    slightest = min(same, key=lambda excursion: (excursion.rows, excursion.peak))
    return tuple(excursion for excursion in grown if excursion is not slightest)


def summarise(state: MetricsState) -> Metrics | None:
    """The evidence that checks judge; None before the first row."""
    if not state.rows or state.advanced_at is None:
        return None
    high = (_closed("loss", state.high, True),) if state.high else ()
    broken = tuple(_closed(name, streak, True) for name, streak in sorted(state.non_finite.items()))
    return Metrics(
        step=state.step,
        rows=state.rows,
        advanced_at=state.advanced_at,
        first_step=state.first_step,
        high_water=state.high_water,
        attempts=state.attempts,
        last=state.last,
        spikes=(*state.spikes, *high),
        non_finite=(*state.ruptures, *broken),
        problems=state.problems,
    )
