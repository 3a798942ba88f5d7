"""The folds together: rows in, a state out; and the state as evidence."""

from collections.abc import Iterable
from datetime import datetime

from herorun.core.canonical import digest
from herorun.core.evidence import Metrics, Presence
from herorun.core.fold import finite, loss, norm, order, resume, speed, streak, trend, turns, wander
from herorun.core.fold.judging import MUTED, judge
from herorun.core.fold.names import Names
from herorun.core.fold.state import MetricsState, copied
from herorun.core.ports import Row

TREND = (
    trend.HALF_LIFE,
    trend.SETTLE,
    trend.YOUNG,
    trend.WEIGHT,
    trend.CLIP,
    trend.LAG,
    trend.FOLLOW,
    trend.FLOOR,
)
STREAK = (streak.MISSES, streak.KEPT)
SHAPE = 5  # of the state


def rules_digest() -> str:
    """Names the constants and the state's shape: a cached state of other rules is folded anew."""
    parts = (loss.RULES, norm.RULES, speed.RULES, wander.RULES, resume.RULES, order.RULES, finite.RULES)
    return digest([SHAPE, MUTED, TREND, STREAK, *parts, turns.RULES])


def fold_rows(
    state: MetricsState,
    rows: Iterable[Row],
    names: Names,
    seen_at: datetime | None = None,
    keep_closed: bool = False,
) -> MetricsState:
    """The state after these rows. `seen_at` stands in for the time of rows that have none of their own.

    Excursions that were closed before this call are forgotten first, unless `keep_closed`: each is reported
    by the tick that saw it end.
    """
    state = copied(state)
    if not keep_closed:
        for watch in state.watches():
            watch.closed = []
    for row in rows:
        _take(state, row, names, seen_at)
    return state


def _take(state: MetricsState, row: Row, names: Names, seen_at: datetime | None) -> None:
    at = _no_later(row.at, seen_at)
    state.rows += 1
    if at is not None and (state.advanced_at is None or at > state.advanced_at):
        state.advanced_at = at
    loss_told = names.loss_of(row.values)
    if loss_told is not None:
        turns.arrive(state.turns, row.step + 1 - names.first_step, loss_told)
    ready, begins = order.take(state, row, names)
    for waited in ready:
        judge(state, waited, names)
    if begins:
        _end_attempt(state)


def _no_later(written: datetime | None, seen: datetime | None) -> datetime | None:
    """A row is no younger than the source it stands in: one that is stamped in the future would hide a hang."""
    return min(written, seen) if written and seen else written or seen


def _end_attempt(state: MetricsState) -> None:
    """What was open ended with the old attempt, and is still to be told."""
    shape = state.loss
    for kind in ("spike", "elevated", "drift", "diverged", "collapsed", "untrained", "frozen"):
        getattr(shape, kind).end(kind, "loss")
    for name, watch in state.non_finite.items():
        watch.end("not-finite", name)
    for name, found in state.norms.items():
        found.explosion.end("explosion", name)
        found.vanished.end("vanished", name)
    for name, pace in state.speeds.items():
        pace.slow.end("slow", name)
        pace.warm = 0
    for name, watch in state.rates.items():
        watch.end("spent", name)
    state.skips.often.end("skipped", finite.SKIPS)
    state.skips = finite.Skips(often=state.skips.often)
    state.wall.began = None
    state.begun = False


def summarise(state: MetricsState, names: Names) -> Metrics | None:
    """The evidence that checks judge, the waiting rows included; None before the first row."""
    if not state.rows or state.advanced_at is None:
        return None
    whole = copied(state)
    for row in whole.waiting:
        judge(whole, row, names)
    return _told(whole, names)


def _told(state: MetricsState, names: Names) -> Metrics:
    assert state.advanced_at is not None
    excursions = [
        *state.loss.told(),
        *(e for name, found in sorted(state.norms.items()) for e in found.told(name)),
        *(e for name, pace in sorted(state.speeds.items()) for e in pace.told(name)),
        *state.wall.told(),
        *state.skips.often.told("skipped", finite.SKIPS),
        *(e for name, other in sorted(state.wanders.items()) for e in other.told(name)),
        *(e for name, watch in sorted(state.bands.items()) for e in watch.told("band", name)),
        *(e for name, watch in sorted(state.rates.items()) for e in watch.told("spent", name)),
        *state.turns.told(),
    ]
    return Metrics(
        step=state.step,
        rows=state.rows,
        advanced_at=state.advanced_at,
        first_step=state.first_step,
        high_water=state.high_water,
        attempts=state.attempts,
        last=state.last,
        spikes=tuple(state.loss.spike.told("spike", "loss")),
        non_finite=tuple(finite.told(state.non_finite)),
        problems=state.problems,
        excursions=tuple(excursions),
        resume=resume.told(state.lineage),
        presence=tuple(
            _presence(state, name) for name in (*(("loss",) if names.loss else ()), *names.declared)
        ),
        late=state.late,
        behind=state.behind,
        pause=state.pauses.usual,
    )


def _presence(state: MetricsState, name: str) -> Presence:
    seen = state.seen.get(name)
    if seen is None:
        return Presence(name, state.judged, seen=False)
    return Presence(name, state.judged - seen.last, seen.longest)
