"""Which instance wrote a row, and which state ends with an attempt or an instance."""

from collections.abc import Sequence
from datetime import datetime

from herorun.core.clock_skew import SKEW
from herorun.core.detectors import nonfinite
from herorun.core.detectors.constant_loss import forget_zeros
from herorun.core.detectors.instances import (
    Boundary,
    known_by_count,
    known_place,
    launched_by,
    passes_start,
    writer_of,
)
from herorun.core.detectors.loss_state import LASTING
from herorun.core.detectors.names import Names
from herorun.core.detectors.reorder import WAITING
from herorun.core.detectors.repeated_rows import forget_rows
from herorun.core.detectors.state import MetricsState
from herorun.core.ports import Row

RULES = (3,)  # raised when the code assigns rows to instances otherwise, so that states are rebuilt


def is_relaunched(state: MetricsState, row: Row, names: Names, newest: Boundary) -> bool:
    """Whether the row is the first of another instance, or of a restart.

    One without a time whose steps continue beyond all earlier ones may be the old instance's last,
    which its tracker sent late: up to the first poll since the launch, or among the first few rows.
    """
    follows = newest.instance != state.instance or newest.attempt > state.start
    if not follows or row.at is not None:
        return follows
    step = row.step + 1 - names.first_step
    highest_step = _highest_step(state, names)
    if step <= highest_step:
        return newest.wrote(state.rows, state.polled_at)
    may_be_late = not newest.was_polled(state.polled_at) or state.rows <= newest.rows + WAITING
    return not may_be_late or passes_start(newest, step, highest_step)


def hand_over(state: MetricsState, row: Row, step: int, newest: Boundary, oldest: str) -> None:
    """Assign the row to the newest instance; or to the `oldest`, if a new attempt begins that the
    newest one hardly started.
    """
    if state.instance and newest.instance != state.instance:
        _end_instance(state, newest.start)
    doubtful = oldest and row.at is None and not newest.can_reach(step)
    is_certain = newest.wrote(state.rows, state.polled_at)
    state.instance = oldest if doubtful and not is_certain else newest.instance
    state.start = newest.attempt if state.instance == newest.instance else 1


def newest_writer(
    state: MetricsState, row: Row, step: int, at: datetime | None, boundaries: Sequence[Boundary]
) -> Boundary | None:
    """The newest instance that can have written the row; None if the record has none."""
    if row.at is None:  # its writer is known for launches only, by counting
        boundaries = [each for each in boundaries if each.attempt == 1]
        if not boundaries:
            return None
    known_at = known_place(boundaries, state.instance, state.start)
    if known_at == len(boundaries) - 1:
        return boundaries[-1]
    if row.at is None:
        newest = known_by_count(boundaries, at, state.rows, known_at)
        newest = writer_of(boundaries, state.rows, step, newest, known_at, state.polled_at)
    else:
        newest = launched_by(boundaries, at, known_at, step)
    return boundaries[newest] if newest >= 0 else None


def _highest_step(state: MetricsState, names: Names) -> int:
    offset = 1 - names.first_step
    return max([state.high_water, *(other.step + offset for other in state.waiting)])


def is_ahead(written_at: datetime | None, seen_at: datetime | None) -> bool:
    return bool(written_at and seen_at and written_at > seen_at + SKEW)


def end_attempt(state: MetricsState, start: int) -> None:
    """Close the open excursions of the old attempt, which must still be reported. The new attempt
    begins at the step `start`.
    """
    shape = state.loss
    for kind in ("spike", *LASTING):
        getattr(shape, kind).end(kind, "loss")
    forget_zeros(shape, start)
    shape.first_rows.flat.end("flat", "loss")
    shape.first_rows.chance.end("chance", "loss")
    shape.first_rows.above.end("above", "loss")
    shape.first_rows.constant.end("constant", "loss")
    forget_rows(shape.first_rows.repeats)
    shape.rises.watch.end("risen", "loss")
    shape.signed_level.watch.end("stepped", "loss")
    for name, watch in state.non_finite.items():
        watch.end("not-finite", name)
    for name, norm in state.norms.items():
        norm.explosion.end("explosion", name)
        norm.vanished.end("vanished", name)
    for name, pace in state.speeds.items():
        pace.slow.end("slow", name)
        pace.warm = 0
    for name, watch in state.rates.items():
        watch.end("spent", name)
    state.idle_rates = {}
    state.skips.often.end("skipped", nonfinite.SKIPS)
    state.skips = nonfinite.SkippedSteps(often=state.skips.often)
    state.wall.began = None
    state.has_begun = False


def _end_instance(state: MetricsState, start: int | None) -> None:
    """Drop the excursions of an ended instance's rows: the next instance trains those steps again.

    Up to the next instance's start the lineage is the same: non-finite values there affected its
    weights.
    """
    for watch in state.watches():
        watch.streak = None
        same = [e for e in watch.closed if start is not None and e.first_step <= start]
        watch.closed = [excursion for excursion in same if excursion.kind == "not-finite"]
