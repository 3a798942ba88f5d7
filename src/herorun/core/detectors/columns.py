"""Judges a batch of rows column by column: the same state as `judge_row` gives row by row, to the
last bit, in less than half the time.

A batch is rows in order, without a gap or a restart among them, that have the same columns and
finite values. All other rows are judged one by one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise, zip_longest
from typing import NamedTuple, TypeAlias

from herorun.core.clock_skew import no_later
from herorun.core.detectors import gaps, interleaved_writers, resume, steady, throughput
from herorun.core.detectors.column_batch import ColumnBatch, batch_from
from herorun.core.detectors.dispatch import JUDGES, PHASE_ROWS, RowPosition, judge_time, state_for
from herorun.core.detectors.grad_norm import Norm
from herorun.core.detectors.instances import Boundary, known_place
from herorun.core.detectors.names import ColumnRole, Names
from herorun.core.detectors.nonfinite import rows_before
from herorun.core.detectors.reorder import WAITING
from herorun.core.detectors.resume_state import remember_values
from herorun.core.detectors.state import MetricsState
from herorun.core.detectors.throughput import Speed
from herorun.core.ports import Row

MIN_ROWS = 32  # rows: a smaller batch is no quicker


def take_batch(
    state: MetricsState,
    rows: Sequence[Row],
    first: int,
    names: Names,
    seen_at: datetime | None,
    boundaries: Sequence[Boundary],
) -> int:
    """Judges a batch of rows from `first` on. Returns their number; 0 if the next row must be
    judged by itself.
    """
    if len(rows) - first < MIN_ROWS or not _may_open_window(state, names, boundaries):
        return 0
    offset = 1 - names.first_step
    if not interleaved_writers.is_single(state.turns, rows[first].step + offset):
        return 0
    new_batch = batch_from(state, rows, first)
    ready = new_batch.after(state.waiting).first(len(new_batch.steps))
    steps = [step + offset for step in ready.steps]
    steps = steps[: rows_before(ready.columns, names, len(steps))]
    count, stride = _until_gap(state.steps, steps)
    if count < MIN_ROWS or steps[0] <= state.high_water:
        return 0
    ready, steps, new_batch = ready.first(count), steps[:count], new_batch.first(count)
    if not _judge(state, ready, steps, names):
        return 0
    state.steps.last, state.steps.stride = steps[-1], stride
    end = first + count
    state.waiting = list(rows[end - WAITING : end])
    _arrive(state, new_batch, names, seen_at)
    return count


def _may_open_window(state: MetricsState, names: Names, boundaries: Sequence[Boundary]) -> bool:
    """Whether the earlier rows left nothing open that involves several columns."""
    if not state.has_begun or len(state.waiting) != WAITING or state.steps.jump or names.phases:
        return False
    if state.since_phase < PHASE_ROWS or any(watch.streak for watch in state.non_finite.values()):
        return False
    return _is_newest(state, boundaries)


def _is_newest(state: MetricsState, boundaries: Sequence[Boundary]) -> bool:
    """Whether the newest instance already writes, so that no later row can be another
    instance's.
    """
    if not boundaries:
        return True
    if boundaries[-1].attempt > 1 and state.waiting[-1].at is None:
        return False  # only for launches the writer of a row without a time can be determined
    return known_place(boundaries, state.instance, state.start) == len(boundaries) - 1


def _until_gap(state: gaps.Steps, steps: Sequence[int]) -> tuple[int, float]:
    """How many rows come before one that is too far ahead, and the usual distance after them."""
    before, stride = state.last, state.stride
    for count, step in enumerate(steps):
        if before is None or step <= before:
            return count, stride
        step_gap, before = step - before, step
        if step_gap == stride:
            continue
        if gaps.exceeds_stride(stride, step_gap):
            return count, stride
        stride = gaps.ease_stride(stride, step_gap)
    return len(steps), stride


def _judge(state: MetricsState, batch: ColumnBatch, steps: Sequence[int], names: Names) -> bool:
    """Whether the batch was judged column by column; if not, the state is unchanged."""
    columns = batch.columns
    roles = {name: role for name in columns if (role := names.roles[name]) is not None}
    loss = next((name for name in names.loss if name in columns), None)
    if not _can_be_judged(state, columns, roles, loss):
        return False
    declared_names = [name for name, role in roles.items() if role.declared]
    declared_names += ["loss"] if loss is not None else []
    if not all(_is_regular(state, name) for name in declared_names):
        return False
    times = [at.timestamp() for at in batch.times]
    if loss is not None:
        steady.judge_losses(state.loss, steps, columns[loss])
        resume.see_losses(state.lineage, steps, columns[loss])
    for name, role in roles.items():
        if role.kind:
            judge_column = COLUMN_JUDGES.get(role.kind, _judge_each)
            judge_column(state, name, columns[name], Places(steps, times), names)
    for step, seconds in zip(steps, times, strict=False):  # none, or all of them
        judge_time(state, step, seconds, False)
    state.judged += len(steps)
    for name in declared_names:
        state.rhythms[name].last = state.judged
    state.step = state.high_water = steps[-1]
    state.last = {name: column[-1] for name, column in columns.items()}
    return True


def _can_be_judged(
    state: MetricsState,
    columns: Mapping[str, Sequence[float]],
    roles: Mapping[str, ColumnRole],
    loss: str | None,
) -> bool:
    """Whether every value is finite, and no column decides how another one is judged."""
    kinds = [role.kind for role in roles.values()]
    if kinds.count("rate") > 1 or kinds.count("skipped") > 1:
        return False  # they share a state, which keeps the row's last value
    if state.loss.first_rows.goes_on and _rate_rises(state, columns, roles):
        return False  # whether the beginning is over depends on the loss of the same row
    if any(role.precursor for role in roles.values()):
        return False  # depends on the learning rate of the same row
    if "time" in kinds and not state.timed:
        return False  # until the first step time, rates are judged too
    if "norm" in kinds and loss is not None and _norm_decides(state, columns[loss]):
        return False
    totals = (sum(columns[name]) for name in (*roles, *([] if loss is None else [loss])))
    return all(total - total == 0.0 for total in totals)


def _rate_rises(
    state: MetricsState,
    columns: Mapping[str, Sequence[float]],
    roles: Mapping[str, ColumnRole],
) -> bool:
    """Whether a learning rate is higher than in the row before."""
    rates = [columns[name] for name, role in roles.items() if role.kind == "rate"]
    return any(
        state.rate is None or any(new > old for old, new in pairwise([state.rate, *values]))
        for values in rates
    )


def _norm_decides(state: MetricsState, losses: Sequence[float]) -> bool:
    """Whether the verdict on the loss needs the gradient norm of the same row: among the first
    rows, and if the loss is zero.
    """
    return not state.loss.rises.is_over or 0.0 in losses


def _is_regular(state: MetricsState, name: str) -> bool:
    """Whether the newest row had this metric, and not for the first time."""
    rhythm = state.rhythms.get(name)
    return rhythm is not None and rhythm.last == state.judged and rhythm.longest > 0


class Places(NamedTuple):
    """The positions of a batch's rows."""

    steps: Sequence[int]
    times: Sequence[float]  # in seconds since the epoch; empty if the rows have no times

    def each(self) -> Iterator[RowPosition]:
        for step, seconds in zip_longest(self.steps, self.times):
            yield RowPosition(step, True, False, False, seconds)


Column: TypeAlias = Sequence[float]


def _judge_each(
    state: MetricsState, name: str, values: Column, places: Places, names: Names
) -> None:
    judge = JUDGES[names.roles[name].kind]  # type: ignore[union-attr]  # it has a role
    for at, value in zip(places.each(), values, strict=True):
        judge(state, name, value, names, at)


def _judge_norms(
    state: MetricsState, name: str, values: Column, places: Places, names: Names
) -> None:
    steady.judge_norms(state_for(state.norms, name, Norm), name, places.steps, values)


def _judge_rates(
    state: MetricsState, name: str, values: Column, places: Places, names: Names
) -> None:
    watch = state.rates.get(name)
    comparison = state.lineage.comparison
    is_pending = comparison is not None and comparison.rate_after is None
    if is_pending or watch is None or watch.streak is not None or min(values) <= 0.0:
        _judge_each(state, name, values, places, names)
        return
    remember_values(state.lineage.rates, places.steps, values)
    state.rate_rises, state.rate = values[-1] > values[-2], values[-1]


def _judge_step_times(
    state: MetricsState, name: str, values: Column, places: Places, names: Names
) -> None:
    speed, steps = state_for(state.speeds, name, Speed), places.steps

    def one(place: int) -> None:
        throughput.judge_time(speed, name, steps[place], values[place], False, False)

    steady.judge_speeds(speed, values, [float(step) for step in steps], one)


def _judge_paces(
    state: MetricsState, name: str, values: Column, places: Places, names: Names
) -> None:
    if state.timed:
        return
    if min(values) <= 0.0:
        _judge_each(state, name, values, places, names)
        return
    speed, steps = state_for(state.speeds, name, Speed), places.steps
    times: Sequence[float | None] = places.times or [None] * len(steps)

    def one(place: int) -> None:
        rate, at = values[place], times[place]
        throughput.judge_rate(
            speed, name, steps[place], rate, is_declared=False, boundary=False, at=at
        )

    steady.judge_speeds(speed, [1 / value for value in values], times, one)


COLUMN_JUDGES: Mapping[str, Callable[[MetricsState, str, Column, Places, Names], None]] = {
    "norm": _judge_norms,
    "rate": _judge_rates,
    "time": _judge_step_times,
    "speed": _judge_paces,
}


def _arrive(
    state: MetricsState, new_batch: ColumnBatch, names: Names, seen_at: datetime | None
) -> None:
    """Note the arrival of rows, before they wait to be judged."""
    state.rows += len(new_batch.steps)
    at = no_later(max(new_batch.times), seen_at) if new_batch.times else seen_at
    if at is not None and (state.advanced_at is None or at > state.advanced_at):
        state.advanced_at = at
    loss = next((name for name in names.loss if name in new_batch.columns), None)
    if loss is not None:
        steps = [step + 1 - names.first_step for step in new_batch.steps]
        interleaved_writers.arrive_all(state.turns, steps, new_batch.columns[loss])
