"""Curves with fewer points that look the same: no extreme is lost, however short it was."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil, isfinite

from herorun.core.lazy_dataclass import dataclass

# points of a curve: more than a screen has columns, so that a zoom still shows something new
MAX_POINTS = 6000
TABLE_ROWS = 24  # stretches that stand for a curve in its table


@dataclass(frozen=True)
class Trace:
    """One attempt's values of a metric, by steps that rise."""

    attempt: int
    steps: Sequence[int]
    values: Sequence[float]


@dataclass(frozen=True)
class ChartLine:
    """What is drawn as one line: finite values alone. Lane 0 is what the run continued from; the
    lanes above it are steps that were repeated.
    """

    lane: int
    steps: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class ChartRow:
    """One line of a chart's table."""

    first: int
    last: int
    least: float
    most: float
    newest: float


def thin(
    steps: Sequence[int], values: Sequence[float], most: int = MAX_POINTS
) -> tuple[list[int], list[float]]:
    """At most so many points (at least 4) of those given: the first, the last, and of each stretch
    the least and the most.

    Values are finite.

    >>> thin(range(9), [1, 1, 1, 9, 1, 1, 0, 1, 1], 6)
    ([0, 3, 5, 6, 8], [1, 9, 1, 0, 1])
    """
    if len(steps) <= most:
        return list(steps), list(values)
    indices = {0, len(steps) - 1}
    size = ceil(len(steps) / max((most - 2) // 2, 1))
    for start in range(0, len(steps), size):
        part = values[start : start + size]
        low, high = min(part), max(part)
        indices |= {start + part.index(low), start + part.index(high)} if low != high else set()
    places = sorted(indices)
    return [steps[place] for place in places], [values[place] for place in places]


def strands(traces: Sequence[Trace], most: int = MAX_POINTS) -> list[ChartLine]:
    """The traces of all attempts as few lines. A step that a later attempt did again counts as its
    later value.
    """
    main: tuple[list[int], list[float]] = [], []
    lanes: list[tuple[list[int], list[float]]] = []
    first_steps = [trace.steps[0] for trace in traces]
    for number, trace in enumerate(traces):
        end = min(first_steps[number + 1 :], default=None)
        cut = len(trace.steps) if end is None else bisect_left(trace.steps, end)
        _extend(main, trace, 0, cut)
        if cut < len(trace.steps):
            _extend(_lane(lanes, trace.steps[cut]), trace, cut, len(trace.steps))
    return [
        ChartLine(number, tuple(steps), tuple(values))
        for number, lane in enumerate([main, *lanes])
        for steps, values in [thin(*lane, most)]
        if steps
    ]


@dataclass(frozen=True)
class NonFiniteSpan:
    """Rows next to each other whose value is no finite number: first and last step, and how
    many.
    """

    first: int
    last: int
    rows: int


def not_finite(traces: Sequence[Trace]) -> list[NonFiniteSpan]:
    """All such stretches, however long: both ends of each, and nothing between them."""
    return sorted(
        (each for trace in traces for each in _find_nonfinite_spans(trace)),
        key=lambda each: each.first,
    )


def longest(stretches: Sequence[NonFiniteSpan], most: int) -> list[NonFiniteSpan]:
    """So many at most, in the order of their steps: of more the shortest go."""
    selection = sorted(stretches, key=lambda each: -each.rows)[:most]
    return sorted(selection, key=lambda each: each.first)


def _find_nonfinite_spans(trace: Trace) -> Iterator[NonFiniteSpan]:
    if isfinite(sum(trace.values)):  # as nearly always: no closer check is needed
        return
    groups = groupby(zip(trace.steps, trace.values, strict=True), key=lambda row: isfinite(row[1]))
    for is_finite, rows in groups:
        if not is_finite:
            steps = [step for step, _ in rows]
            yield NonFiniteSpan(steps[0], steps[-1], len(steps))


def chart_table(strand: ChartLine) -> list[ChartRow]:
    """The curve in words for who cannot see it: `TABLE_ROWS` stretches at most, equal in
    points.
    """
    size = max(ceil(len(strand.steps) / TABLE_ROWS), 1)
    return [
        ChartRow(strand.steps[at], part[-1], min(values), max(values), values[-1])
        for at in range(0, len(strand.steps), size)
        for part, values in [(strand.steps[at : at + size], strand.values[at : at + size])]
    ]


def _lane(lanes: list[tuple[list[int], list[float]]], step: int) -> tuple[list[int], list[float]]:
    """One that is free from that step on."""
    free = next((lane for lane in lanes if lane[0][-1] < step), None)
    if free is None:
        free = [], []
        lanes.append(free)
    return free


def _extend(lane: tuple[list[int], list[float]], trace: Trace, start: int, end: int) -> None:
    values = trace.values[start:end]
    if isfinite(sum(values)):
        lane[0].extend(trace.steps[start:end])
        lane[1].extend(values)
        return
    for step, value in zip(trace.steps[start:end], values, strict=True):
        if isfinite(value):
            lane[0].append(step)
            lane[1].append(value)
