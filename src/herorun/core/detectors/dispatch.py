"""Passes each value of a row to the detector of its column."""

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from herorun.core.detectors import band, gaps, grad_norm, loss, nonfinite, resume, throughput
from herorun.core.detectors.excursion import ExcursionWatch
from herorun.core.detectors.growth import DifferenceGrowth, judge_growth, restart
from herorun.core.detectors.names import ColumnRole, Names
from herorun.core.detectors.restart_from_scratch import OPENING
from herorun.core.detectors.resume_state import AttemptStartPoint
from herorun.core.detectors.state import MetricsState, ReportingRhythm
from herorun.core.ports import Row
from herorun.core.row_bounds import MAX_NAMES

PHASE_ROWS = 150  # rows after a declared phase whose new excursions are marked as declared
TOO_MANY = (
    f"metrics such as a router's or a z-loss have more than {MAX_NAMES} names in all: later ones "
    "are not judged"
)
S = TypeVar("S")


def _begin_attempt(state: MetricsState, step: int) -> None:
    if state.attempts:
        is_beyond_gap = gaps.has_gap(state.steps, step - state.high_water)
        trend, at = (
            state.loss.trend,
            AttemptStartPoint(step, state.high_water, state.steps.stride, is_beyond_gap),
        )
        resume.restart(state.lineage, at, state.instance, trend)
        state.loss.restart_rows = OPENING if step <= state.lineage.first_step else 0
    state.attempts += 1
    state.first_step = step
    state.has_begun = True
    state.pauses.last = None


def judge_row(state: MetricsState, row: Row, names: Names) -> None:
    step, values = row.step + 1 - names.first_step, row.values
    if not state.has_begun:
        _begin_attempt(state, step)
    state.judged += 1
    if gaps.see(state.steps, step):
        resume.lose(state.lineage)
    fresh = step > state.high_water
    boundary = _is_phase_start(state, step, names.phases) if names.phases else False
    is_declared = state.since_phase < PHASE_ROWS
    state.step = step
    if fresh:
        state.high_water = step
    seconds = row.at.timestamp() if row.at is not None else None
    at = RowPosition(step, fresh, is_declared, boundary, seconds)
    roles, non_finite = names.roles, state.non_finite
    for name in names.loss:
        if name in values:
            _judge_loss_of_row(state, name, values, names, at)
            break
    for name, value in values.items():
        role = roles[name]
        if role is None:
            continue
        if value - value != 0.0 or name in non_finite:
            _judge_whether_finite(state, name, role, value, step)
        if role.declared:
            _note_reporting(state, name)
        if value - value == 0.0:
            if role.kind:
                JUDGES[role.kind](state, name, value, names, at)
            if role.precursor and fresh:
                _judge_precursor(state, name, value, role.precursor > 0, at)
    if seconds is not None:
        judge_time(state, step, seconds, is_declared)
    state.last = values


def judge_time(state: MetricsState, step: int, seconds: float, is_declared: bool) -> None:
    """Judge when a row was written, by its own clock."""
    resume.see_time(state.lineage, step, seconds)
    throughput.judge_wall(state.wall, step, seconds, is_declared)
    throughput.judge_pause(state.pauses, seconds)


class RowPosition(NamedTuple):
    """The position of a row."""

    step: int
    fresh: bool  # beyond all steps so far
    declared: bool  # within the first rows of a declared phase
    boundary: bool  # the first row of one
    seconds: float | None  # since the epoch, if the row has a time


def _is_phase_start(state: MetricsState, step: int, phases: tuple[int, ...]) -> bool:
    """Whether a declared phase begins with this row."""
    state.since_phase += 1
    phase_count = sum(boundary < step for boundary in phases)
    is_new_phase, state.phases = phase_count > state.phases, phase_count
    if is_new_phase:
        state.since_phase = 0
    return is_new_phase


def _judge_loss_of_row(
    state: MetricsState, name: str, values: Mapping[str, float], names: Names, at: RowPosition
) -> None:
    value = values[name]
    _note_reporting(state, "loss")
    if value - value == 0.0:
        if name in state.non_finite:
            nonfinite.judge_finite(state.non_finite, name, at.step, True)
        before = None if at.fresh else state.lineage.old_losses.get(at.step)
        loss.judge_loss(
            state=state.loss,
            step=at.step,
            loss=value,
            fresh=at.fresh,
            is_declared=at.declared,
            boundary=at.boundary,
            before=before,
            norm=None if value and state.loss.rises.is_over else _first_norm(values, names),
        )
        resume.see_loss(state.lineage, at.step, value)
        is_hidden = value == 0.0 and _is_norm_lost(values, names)
        if is_hidden or f"{name}{nonfinite.AS_ZERO}" in state.non_finite:
            nonfinite.judge_finite(
                state.non_finite, f"{name}{nonfinite.AS_ZERO}", at.step, not is_hidden
            )
    elif not any(values.get(skip, 0.0) > 0 for skip in names.skipped):
        # the loss of a skipped step harmed nothing
        nonfinite.judge_finite(state.non_finite, name, at.step, False)


def _first_norm(values: Mapping[str, float], names: Names) -> float | None:
    for name in names.norm:
        if name in values:
            return values[name]
    return None


def _is_norm_lost(values: Mapping[str, float], names: Names) -> bool:
    """Whether the row has a non-finite gradient norm."""
    return any(values[name] - values[name] != 0.0 for name in names.norm if name in values)


def _judge_whether_finite(
    state: MetricsState, name: str, role: ColumnRole, value: float, step: int
) -> None:
    if role.watched:
        nonfinite.judge_finite(state.non_finite, name, step, value - value == 0.0)


def _judge_precursor(
    state: MetricsState, name: str, value: float, rises: bool, at: RowPosition
) -> None:
    if _has_room_for(state, state.growths, name):
        growth = state_for(state.growths, name, DifferenceGrowth)
        if state.rate_rises:
            restart(growth)
            return
        judge_growth(growth, name, at.step, value, rises, at.declared)


def _has_room_for(state: MetricsState, table: Mapping[str, object], name: str) -> bool:
    """Limits the number of metrics: a run may log new names in each row."""
    if name in table or len(table) < MAX_NAMES:
        return True
    if TOO_MANY not in state.problems:
        state.problems = (*state.problems, TOO_MANY)
    return False


def _judge_norm_of_row(
    state: MetricsState, name: str, value: float, names: Names, at: RowPosition
) -> None:
    norm = state.norms.get(name) or state_for(state.norms, name, grad_norm.Norm)
    grad_norm.judge_norm(norm, name, at.step, value, at.fresh, at.declared)


def _judge_learning_rate(
    state: MetricsState, name: str, value: float, names: Names, at: RowPosition
) -> None:
    resume.see_rate(state.lineage, at.step, value)
    state.rate_rises = state.rate is not None and value > state.rate
    if state.loss.first_rows.goes_on and (state.rate is None or state.rate_rises):
        state.rate_rose = at.step
    state.rate = value
    if value > 0.0:
        watch = state_for(state.rates, name, ExcursionWatch)
        if watch.streak is not None:
            watch.within("spent", name, 0)
        state.idle_rates.pop(name, None)
    elif value == 0.0:
        if name in state.rates:
            state.rates[name].extend(at.step, 0.0, 0.0, 0.0, at.declared)
        else:
            state_for(state.idle_rates, name, ExcursionWatch).extend(at.step, 0.0, 0.0, 0.0)


def _judge_step_time(
    state: MetricsState, name: str, value: float, names: Names, at: RowPosition
) -> None:
    if not state.timed:
        _switch_to_step_times(state)
    throughput.judge_time(
        state_for(state.speeds, name, throughput.Speed),
        name,
        at.step,
        value,
        at.declared,
        at.boundary,
    )


def _switch_to_step_times(state: MetricsState) -> None:
    """From now on judge step times instead of rates; rates without excursions are removed."""
    state.timed = True
    state.speeds = {name: speed for name, speed in state.speeds.items() if speed.excursions(name)}


def _judge_throughput(
    state: MetricsState, name: str, value: float, names: Names, at: RowPosition
) -> None:
    if value > 0.0 and not state.timed:
        throughput.judge_rate(
            state_for(state.speeds, name, throughput.Speed),
            name,
            at.step,
            value,
            is_declared=at.declared,
            boundary=at.boundary,
            at=at.seconds,
        )


def _judge_wander_of_metric(
    state: MetricsState, name: str, value: float, names: Names, at: RowPosition
) -> None:
    if not _has_room_for(state, state.wanders, name):
        return
    band.judge_trend_deviation(
        state_for(state.wanders, name, band.TrendDeviation),
        name,
        at.step,
        value,
        at.fresh,
        at.declared,
    )


def _judge_band_of_metric(
    state: MetricsState, name: str, value: float, names: Names, at: RowPosition
) -> None:
    least, most = names.band_of[name]
    band.judge_band(state_for(state.bands, name, ExcursionWatch), name, at.step, value, least, most)


def _judge_skips(
    state: MetricsState, name: str, value: float, names: Names, at: RowPosition
) -> None:
    nonfinite.judge_finite(state.non_finite, nonfinite.SKIPS, at.step, value <= 0)
    if at.seconds is not None:
        nonfinite.judge_skip(state.skips, at.step, value > 0, at.seconds)


JUDGES: Mapping[str, Callable[[MetricsState, str, float, Names, RowPosition], None]] = {
    "norm": _judge_norm_of_row,
    "rate": _judge_learning_rate,
    "time": _judge_step_time,
    "speed": _judge_throughput,
    "wander": _judge_wander_of_metric,
    "band": _judge_band_of_metric,
    "skipped": _judge_skips,
}


def state_for(table: dict[str, S], name: str, kind: type[S]) -> S:
    if name not in table:
        table[name] = kind()
    return table[name]


def _note_reporting(state: MetricsState, name: str) -> None:
    rhythm = state.rhythms.get(name)
    if rhythm is None:
        rhythm = state.rhythms[name] = ReportingRhythm(state.judged)
    pause = state.judged - rhythm.last
    if pause > rhythm.longest:
        rhythm.longest = pause
    rhythm.last = state.judged
