"""All detectors together: rows in, state out; and the state as evidence."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache

from herorun.core.canonical_json import digest
from herorun.core.clock_skew import no_later
from herorun.core.detectors import (
    band,
    baseline,
    excursion,
    first_rises,
    first_rows,
    gaps,
    grad_norm,
    growth,
    handover,
    interleaved_writers,
    loss,
    nonfinite,
    reorder,
    repeated_rows,
    restart_from_scratch,
    resume,
    throughput,
    windows,
)
from herorun.core.detectors.dispatch import PHASE_ROWS, judge_row
from herorun.core.detectors.handover import (
    end_attempt,
    hand_over,
    is_ahead,
    is_relaunched,
    newest_writer,
)
from herorun.core.detectors.instances import (
    Boundary,
)
from herorun.core.detectors.names import Names
from herorun.core.detectors.state import MetricsState, copy_state
from herorun.core.evidence import Excursion, LeastLoss, Metrics, Presence
from herorun.core.ports import Row
from herorun.core.ports.columnar import parts_of

TREND = (
    baseline.HALF_LIFE,
    baseline.SETTLE,
    baseline.YOUNG,
    baseline.WEIGHT,
    baseline.CLIP,
    baseline.LAG,
    baseline.FOLLOW,
    baseline.FLOOR,
)
STREAK = (excursion.MISSES, excursion.MAX_CLOSED)
SHAPE = 25  # of the state
ONE_BY_ONE = 16  # rows that follow the one at which a batch ended


def rules_digest() -> str:
    """The digest of the constants and the state's shape: a state cached under other rules is
    rebuilt.
    """
    parts = (
        loss.RULES,
        restart_from_scratch.RULES,
        first_rows.RULES,
        first_rises.RULES,
        repeated_rows.RULES,
        grad_norm.RULES,
        throughput.RULES,
        band.RULES,
        resume.RULES,
        reorder.RULES,
        nonfinite.RULES,
        gaps.RULES,
        handover.RULES,
        growth.RULES,
        windows.RULES,
    )
    return _constants_digest((SHAPE, PHASE_ROWS, TREND, STREAK, *parts, interleaved_writers.RULES))


# The runs of one process share the constants.
_constants_digest = lru_cache(maxsize=1)(digest)


def fold_rows(
    state: MetricsState,
    rows: Iterable[Row],
    names: Names,
    *,
    seen_at: datetime | None = None,
    keep_closed: bool = False,
    boundaries: Sequence[Boundary] = (),
    in_place: bool = False,
) -> MetricsState:
    """The state after these rows; `in_place` the given one is changed. `seen_at` is used for rows
    without a time; `boundaries` are the starts of the instances.

    Excursions that were closed before this call are removed first, unless `keep_closed`: the tick
    that read their end has reported them.
    """
    state = state if in_place else copy_state(state)
    if not keep_closed:
        for watch in state.watches():
            watch.closed = []
    _see_restart(state, names, boundaries)
    for part in parts_of(rows if isinstance(rows, Sequence) else tuple(rows)):
        take_batch = _batches() if len(part) > ONE_BY_ONE else None
        place = 0
        while place < len(part):
            if take_batch is not None:
                place += take_batch(state, part, place, names, seen_at, boundaries)
            for row in part[place : place + ONE_BY_ONE]:
                _take(state, row, names, seen_at, boundaries)
            place += ONE_BY_ONE
    state.rival = state.rival or names.roles.rival
    return state


def _batches() -> Callable[..., int]:
    """Imported only for many rows: most ticks read a few."""
    from herorun.core.detectors.columns import take_batch

    return take_batch


def _see_restart(state: MetricsState, names: Names, boundaries: Sequence[Boundary]) -> None:
    """Apply a restart that became known late: a check-in is read in parallel with the rows, so its
    first rows may have been judged before.
    """
    newest = boundaries[-1] if boundaries else None
    if newest is None or newest.instance != state.instance or newest.attempt <= state.start:
        return
    since = newest.since.timestamp()
    times = [row.at.timestamp() for row in state.waiting if row.at]
    if max([*times, *state.lineage.times.values()], default=since) <= since:
        return  # its rows are still to come
    for row in state.waiting:
        judge_row(state, row, names)
    state.waiting, state.start = [], newest.attempt
    first = resume.split(state.lineage, since, state.instance, state.loss.trend, state.steps.stride)
    if first is not None:
        state.attempts, state.first_step = state.attempts + 1, first


def _take(
    state: MetricsState,
    row: Row,
    names: Names,
    seen_at: datetime | None,
    boundaries: Sequence[Boundary],
) -> None:
    at = seen_at if row.at is None else no_later(row.at, seen_at)
    state.rows += 1
    step = row.step + 1 - names.first_step
    newest = None
    if boundaries:
        dated_at = None if is_ahead(row.at, seen_at) else at  # its time is not when it was written
        newest = newest_writer(state, row, step, dated_at, boundaries)
    is_relaunch = newest is not None and is_relaunched(state, row, names, newest)
    if at is not None and (state.advanced_at is None or at > state.advanced_at):
        state.advanced_at = at
    logged_loss = names.loss_of(row.values)
    if logged_loss is not None:
        interleaved_writers.arrive(state.turns, step, logged_loss)
    ready, is_new_attempt = reorder.take(state, row, names, is_relaunch and bool(state.instance))
    for waiting_row in ready:
        judge_row(state, waiting_row, names)
    if is_new_attempt:
        end_attempt(state, step)
    if newest and (is_relaunch or is_new_attempt or not state.instance):
        hand_over(state, row, step, newest, boundaries[0].instance if is_new_attempt else "")


def summarise(state: MetricsState, names: Names) -> Metrics | None:
    """The evidence that checks judge, the waiting rows included; None before the first row."""
    if not state.rows or state.advanced_at is None:
        return None
    complete = copy_state(state)
    for row in complete.waiting:
        judge_row(complete, row, names)
    complete.rival = complete.rival or names.roles.rival
    return _build_metrics(complete, names)


def _build_metrics(state: MetricsState, names: Names) -> Metrics:
    from herorun.core.detectors.readiness import unjudged_metrics

    assert state.advanced_at is not None
    return Metrics(
        step=state.step,
        rows=state.rows,
        advanced_at=state.advanced_at,
        leap=timedelta(seconds=state.leap),
        undated=state.undated,
        first_step=state.first_step,
        high_water=state.high_water,
        attempts=state.attempts,
        last=state.last,
        spikes=tuple(state.loss.spike.excursions("spike", "loss")),
        non_finite=tuple(nonfinite.excursions(state.non_finite)),
        problems=state.problems,
        excursions=_excursions_of(state, names),
        resume=resume.resume_of(state.lineage),
        presence=tuple(
            _presence(state, name) for name in (*(("loss",) if names.loss else ()), *names.declared)
        ),
        late=state.late,
        behind=state.behind,
        pause=state.pauses.usual,
        instance=state.instance,
        lost=tuple(state.steps.gaps),
        stride=state.steps.stride,
        opening=tuple(state.lineage.opening),
        least=_least_loss(state),
        unjudged=tuple(unjudged_metrics(state)),
        first_logged=names.first_step,
        rival=state.rival,
    )


def _excursions_of(state: MetricsState, names: Names) -> tuple[Excursion, ...]:
    """The excursions of all detectors except spikes of the loss and non-finite values."""
    return (
        *state.loss.excursions(),
        *(e for name, norm in sorted(state.norms.items()) for e in norm.excursions(name)),
        *(
            e
            for n, pace in sorted(state.speeds.items())
            for e in _mark_rates(pace.excursions(n), names)
        ),
        *(replace(e, inverse=True) for e in state.wall.excursions()),
        *state.skips.often.excursions("skipped", nonfinite.SKIPS),
        *(e for name, other in sorted(state.wanders.items()) for e in other.excursions(name)),
        *(e for name, each in sorted(state.growths.items()) for e in each.excursions(name)),
        *(e for name, watch in sorted(state.bands.items()) for e in watch.excursions("band", name)),
        *(e for n, watch in sorted(state.rates.items()) for e in watch.excursions("spent", n)),
        *_idle_rates(state),
        *state.turns.excursions(),
    )


def _least_loss(state: MetricsState) -> LeastLoss | None:
    loss, rose = state.loss, state.rate_rose
    if not loss.first_rows.rows or loss.signed or not (loss.settled or loss.first_rows.goes_on):
        return None
    lowest = min(loss.first_rows.floor, loss.lowest) if loss.settled else loss.first_rows.floor
    steady_steps = state.step - rose if rose is not None and state.rate else None
    return LeastLoss(math.exp(lowest), state.judged, steady_steps)


def _idle_rates(state: MetricsState) -> Iterator[Excursion]:
    """Learning rates that have always been zero; none if another one is above zero, because then
    the zero is a frozen group.
    """
    if not state.rates:
        for name, watch in sorted(state.idle_rates.items()):
            yield from watch.excursions("idle", name)


def _mark_rates(excursions: Iterable[Excursion], names: Names) -> Iterator[Excursion]:
    """Marks excursions as of a step time or of a rate."""
    for each in excursions:
        role = names.roles[each.metric]
        yield replace(each, inverse=role is not None and role.kind == "speed")


def _presence(state: MetricsState, name: str) -> Presence:
    rhythm = state.rhythms.get(name)
    if rhythm is None:
        return Presence(name, state.judged, seen=False)
    return Presence(name, state.judged - rhythm.last, rhythm.longest)
