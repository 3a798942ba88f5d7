"""The axes for drawing a curve by time or by tokens instead of steps."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import ceil

from herorun.core.config.final_step import tokens_per_step
from herorun.core.contract import Contract
from herorun.core.event import Launching
from herorun.core.goodput.timeline import Beat
from herorun.core.lazy_dataclass import dataclass

EVEN = 2000  # points of the time of steps, evenly spaced
BREAK = 500  # a gap longer than this part (1/500) of the whole time keeps both ends


@dataclass(frozen=True)
class StepAxes:
    """`steps` rise, and so do `seconds` (since 1970, UTC): when each step was last completed.
    `tokens` are those of one step; None if unknown.
    """

    steps: tuple[int, ...] = ()
    seconds: tuple[float, ...] = ()
    tokens: int | None = None


def axes_of(contract: Contract, launchings: Iterable[Launching], beats: Sequence[Beat]) -> StepAxes:
    """The axes. Without times there is no time axis; without a constant number of tokens per step,
    no token axis.
    """
    points = _thin(_times(beats))
    counts = {_tokens(contract, each) for each in launchings}
    tokens = counts.pop() if len(counts) == 1 else None
    if len(points) < 2:
        points = []
    return StepAxes(
        tuple(step for step, _ in points),
        tuple(round(at / 1e6, 3) for _, at in points),
        tokens,
    )


def _tokens(contract: Contract, launching: Launching) -> int | None:
    config = launching.plan.get("config", {}).get("value")
    return tokens_per_step(contract, config) if isinstance(config, dict) else None


def _times(beats: Sequence[Beat]) -> list[tuple[int, int]]:
    """The time of each step; of a step that was trained again, the last time. The beats are in the
    order of their times.
    """
    times: list[tuple[int, int]] = []
    for beat in reversed(beats):
        if not times or beat.step < times[-1][0]:
            times.append((beat.step, beat.at))
    return times[::-1]


def _thin(points: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Fewer points: the pace between two of them is interpolated, and each long gap keeps its
    ends.
    """
    if len(points) <= EVEN:
        return list(points)
    span = points[-1][1] - points[0][1]
    places = {*range(0, len(points), ceil(len(points) / EVEN)), len(points) - 1}
    for place, (before, after) in enumerate(pairwise(points)):
        if (after[1] - before[1]) * BREAK > span:
            places |= {place, place + 1}
    return [points[place] for place in sorted(places)]
