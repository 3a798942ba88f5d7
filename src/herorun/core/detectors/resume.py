"""How a new attempt continues the previous one: at equal steps, otherwise by the level after the
resume.

The losses and learning rates of the newest rows are stored by step. A restart keeps them for
comparison.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

from herorun.core.detectors.baseline import Trend
from herorun.core.detectors.gaps import FAR
from herorun.core.detectors.reorder import WAITING
from herorun.core.detectors.resume_state import (
    MAX_ROWS,
    MEMORY_ROWS,
    AttemptStartPoint,
    Lineage,
    ResumeComparison,
    forget_oldest,
    put_in_order,
    remember_values,
)
from herorun.core.evidence import Resume
from herorun.core.lazy_statistics import fmean, median

OPENING = 4  # rows of the run's beginning
EARLY = 5  # rows
MEDIAN_ROWS = 65  # differences for the median
BAD = 0.002  # as in marin-community/marin, manage-hero-run
WARM_UP = 50  # rows after the high water
MEAN_ROWS = 50  # rows after the warm-up that are averaged

# times the usual steps between two rows: nearer learning rates can be compared
NEAR = 5.0
NEAREST = 8  # steps, at least

RULES = (MEMORY_ROWS, EARLY, MEDIAN_ROWS, BAD, WARM_UP, MEAN_ROWS, NEAR, NEAREST, FAR, WAITING)


def restart(state: Lineage, at: AttemptStartPoint, instance: str, trend: Trend) -> None:
    """A new attempt begins."""
    forget_oldest(state.losses)
    forget_oldest(state.rates)
    state.old_losses = {**state.old_losses, **state.losses}
    state.old_rates = {**state.old_rates, **state.rates}
    forget_oldest(state.old_losses)
    forget_oldest(state.old_rates)
    put_in_order(state)
    before, gap = list(state.losses.values()), _has_gap(list(state.losses)[-MEAN_ROWS:])
    state.losses, state.rates, state.times = {}, {}, {}
    mean = _mean(before, trend.level)
    fall = _fall([state.old_losses[at] for at in sorted(state.old_losses)])
    state.comparison = ResumeComparison(
        step=at.step,
        high_water=at.high_water,
        level=trend.level,
        mean=mean,
        noise=trend.scale,
        fall=fall,
    )
    state.comparison.instance, state.comparison.stride, state.comparison.broken = (
        instance,
        at.stride,
        at.is_beyond_gap or gap,
    )


def split(state: Lineage, since: float, instance: str, trend: Trend, stride: float) -> int | None:
    """Apply a restart that became known after its rows were judged: rows written since are compared
    with the earlier ones.

    Returns the first step of the new attempt; None if all rows, or none, are after the restart.
    """
    for values in (state.times, state.losses, state.rates):
        forget_oldest(values)
    times = {step: seconds for step, seconds in sorted(state.times.items()) if seconds >= since}
    if not times or len(times) == len(state.times):
        return None
    losses = {step: state.losses.pop(step) for step in times if step in state.losses}
    rates = {step: state.rates.pop(step) for step in times if step in state.rates}
    first, high_water = min(times), max(state.times.keys() - times.keys())
    restart(state, AttemptStartPoint(first, high_water, stride, False), instance, trend)
    assert state.comparison is not None
    state.comparison.level = state.comparison.mean  # the trend has followed the new rows
    for step, loss in losses.items():
        see_loss(state, step, loss)
    for step, rate in rates.items():
        see_rate(state, step, rate)
    state.times = times
    return first


def see_time(state: Lineage, step: int, seconds: float) -> None:
    state.times[step] = seconds
    if len(state.times) > MAX_ROWS:
        forget_oldest(state.times)


def lose(state: Lineage) -> None:
    """Rows are missing before the next one: no level is compared across the gap."""
    if state.comparison is not None and state.comparison.beyond < WARM_UP + MEAN_ROWS:
        state.comparison.broken = True


def _has_gap(steps: list[int]) -> bool:
    """Whether rows are missing among those before the restart, so that the trend is outdated."""
    step_gaps = [after - before for before, after in pairwise(steps)]
    return bool(step_gaps) and max(step_gaps) > max(WAITING, FAR * median(step_gaps))


def _mean(losses: list[float], level: float) -> float:
    lately = [math.log(loss) for loss in losses[-MEAN_ROWS:] if loss > 0]
    return fmean(lately) if len(lately) == MEAN_ROWS else level


def _offset(comparison: ResumeComparison, averaged_count: int) -> float:
    """The smaller of the offsets from the trend and from the mean: the trend lags behind a jump of
    the data, and the mean may include the spike that was rolled back.
    """
    if not averaged_count:
        return 0.0
    offset = comparison.total / averaged_count
    return min(offset, offset + comparison.level - comparison.mean, key=abs)


def _fall(losses: list[float]) -> float | None:
    """The expected fall of the loss between the resume and the averaged rows, by its recent fall.

    None if there are too few rows: a young curve is steep. Uses medians, so that a spike shortly
    before the resume does not hide a fall.
    """
    before, lately = losses[-150:-75], losses[-75:]
    usable = [loss for loss in (*before, *lately) if loss > 0]
    if len(before) < 50:
        return None
    if len(usable) < len(before) + len(lately):
        return 0.0
    return max(math.log(median(before) / median(lately)), 0.0)


def see_loss(state: Lineage, step: int, loss: float) -> None:
    if state.first is None:
        state.first, state.first_step = loss, step
    if len(state.opening) < OPENING:
        state.opening.append(loss)
    comparison = state.comparison
    if comparison is not None and step not in state.losses:
        _compare(state, comparison, step, loss)
    state.losses[step] = loss
    if len(state.losses) > MAX_ROWS:
        forget_oldest(state.losses)


def see_losses(state: Lineage, steps: Sequence[int], losses: Sequence[float]) -> None:
    """`see_loss` for many rows."""
    if state.comparison is None and len(state.opening) == OPENING:
        remember_values(state.losses, steps, losses)
        return
    for step, loss in zip(steps, losses, strict=True):
        see_loss(state, step, loss)


def _compare(state: Lineage, comparison: ResumeComparison, step: int, loss: float) -> None:
    old = state.old_losses.get(step)
    if step == comparison.step and step == state.first_step and state.first:
        comparison.counter_reset = 0 < loss < 0.75 * state.first
    if step <= comparison.high_water:
        if old is not None:
            _differ(comparison, step, loss, old)
            if old > 0 and loss > 0:
                comparison.shift, comparison.shifted = (
                    comparison.shift + math.log(loss) - math.log(old),
                    comparison.shifted + 1,
                )
    elif loss > 0 and not comparison.broken:
        comparison.beyond += 1
        if WARM_UP < comparison.beyond <= WARM_UP + MEAN_ROWS:
            comparison.total += math.log(loss) - comparison.level


def _differ(comparison: ResumeComparison, step: int, loss: float, old: float) -> None:
    comparison.compared, difference = comparison.compared + 1, loss - old
    if len(comparison.differences) < MEDIAN_ROWS:
        comparison.differences.append(difference)
    if abs(difference) > abs(comparison.worst):
        comparison.worst, comparison.worst_step, comparison.worst_new = difference, step, loss
    if abs(difference) > BAD and comparison.first_bad_step is None:
        comparison.first_bad_step = step


def see_rate(state: Lineage, step: int, rate: float) -> None:
    comparison = state.comparison
    if comparison is not None and comparison.rate_after is None:
        expected_rate, exact = _expected_rate(state, comparison, step, rate)
        comparison.rate_before, comparison.rate_after, comparison.rate_exact = (
            expected_rate,
            rate,
            exact,
        )
    state.rates[step] = rate
    if len(state.rates) > MAX_ROWS:
        forget_oldest(state.rates)


def _expected_rate(
    state: Lineage, comparison: ResumeComparison, step: int, rate: float
) -> tuple[float | None, bool]:
    """The earlier learning rate at this step; otherwise the one near it, or its extrapolation,
    whichever fits better.
    """
    rates = state.old_rates
    if step in rates:
        return rates[step], True
    nearest = sorted(rates, key=lambda other: abs(other - step))[:2]
    if not nearest or abs(nearest[0] - step) > max(NEAREST, NEAR * comparison.stride):
        return None, False
    usual = rates[nearest[0]]
    if len(nearest) < 2:
        return usual, False
    slope = (usual - rates[nearest[1]]) / (nearest[0] - nearest[1])
    return min(
        usual, max(usual + slope * (step - nearest[0]), 0.0), key=lambda one: abs(one - rate)
    ), False


def resume_of(state: Lineage) -> Resume | None:
    comparison = state.comparison
    if comparison is None:
        return None
    averaged_count = min(max(comparison.beyond - WARM_UP, 0), MEAN_ROWS)
    sizes = [abs(difference) for difference in comparison.differences]
    return Resume(
        step=comparison.step,
        high_water=comparison.high_water,
        compared=comparison.compared,
        early=tuple(comparison.differences[:EARLY]),
        median=median(sizes) if sizes else 0.0,
        worst=comparison.worst,
        worst_step=comparison.worst_step,
        worst_new=comparison.worst_new if comparison.compared else None,
        first_bad_step=comparison.first_bad_step,
        after=averaged_count,
        offset=_offset(comparison, averaged_count),
        noise=comparison.noise,
        fall=comparison.fall,
        counter_reset=comparison.counter_reset,
        rate_before=comparison.rate_before,
        rate_after=comparison.rate_after,
        rate_exact=comparison.rate_exact,
        instance=comparison.instance,
        shift=comparison.shift / comparison.shifted if comparison.shifted else 0.0,
        level=math.exp(comparison.level) if comparison.noise else 0.0,
        broken=comparison.broken,
    )
