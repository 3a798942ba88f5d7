"""Non-finite values, and steps that the trainer skipped because of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import field

from herorun.core.detectors.excursion import ExcursionWatch
from herorun.core.detectors.names import Names
from herorun.core.evidence import Excursion
from herorun.core.lazy_dataclass import dataclass

SKIPS = "skipped steps"
# the suffix for a loss of exactly zero with a non-finite gradient norm: some trainers replace such
# losses by 0
AS_ZERO = " (logged as 0)"
OFTEN = 3  # skipped steps within WITHIN seconds
WITHIN = 900.0
# rows of an attempt in which half precision searches for its loss scale, and skips steps
SEARCH = 50

RULES = (OFTEN, WITHIN, SEARCH)


def judge_finite(open_now: dict[str, ExcursionWatch], metric: str, step: int, finite: bool) -> None:
    """One value of a metric that must be finite."""
    watch = open_now.get(metric)
    if not finite:
        if watch is None:
            watch = open_now[metric] = ExcursionWatch()
        watch.extend(step, math.inf, math.nan, 0.0)
    elif watch is not None and watch.streak is not None:
        watch.within("not-finite", metric, 0)


def excursions(open_now: dict[str, ExcursionWatch]) -> list[Excursion]:
    return [
        e for name, watch in sorted(open_now.items()) for e in watch.excursions("not-finite", name)
    ]


@dataclass(slots=True)
class SkippedSteps:
    """Recently skipped steps, by time; they need not be consecutive."""

    rows: int = 0  # rows of this attempt that report whether a step was skipped
    times: list[float] = field(default_factory=list)  # of the newest, in seconds since the epoch
    steps: list[int] = field(default_factory=list)  # the same
    often: ExcursionWatch = field(default_factory=ExcursionWatch)


def judge_skip(state: SkippedSteps, step: int, is_skipped: bool, at: float) -> None:
    """Add a row that reports whether its step was skipped, with its time."""
    state.rows += 1
    while state.times and at - state.times[0] > WITHIN:
        state.times.pop(0)
        state.steps.pop(0)
    if is_skipped and state.rows > SEARCH:
        state.times.append(at)
        state.steps.append(step)
    if len(state.times) < OFTEN:
        state.often.end("skipped", SKIPS)
    elif is_skipped:
        fresh = state.often.streak is None
        streak = state.often.extend(step, math.log(len(state.times)), 1.0, 0.0)
        if fresh:
            streak.first_step, streak.rows = state.steps[0], len(state.times)


def rows_before(columns: Mapping[str, Sequence[float]], names: Names, count: int) -> int:
    """How many of `count` rows come before the first one with a non-finite judged value."""
    for name, column in columns.items():
        if (name in names.loss or names.roles[name]) and not math.isfinite(sum(column[:count])):
            places = (
                place for place, value in enumerate(column[:count]) if not math.isfinite(value)
            )
            count = next(places, count)
    return count
