"""Thin curves look like the whole ones: no extreme is lost, and a step that was done again counts
once.
"""

from array import array
from math import inf, nan

import pytest
from hypothesis import given, strategies as st

from herorun.core.report.downsample import (
    ChartLine,
    NonFiniteSpan,
    Trace,
    chart_table,
    longest,
    not_finite,
    strands,
    thin,
)

VALUES = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=400)


@given(VALUES, st.integers(4, 60))
def test_what_is_kept_was_there_and_keeps_the_ends_and_the_extremes(
    values: list[float], most: int
) -> None:
    steps = list(range(10, 10 + 3 * len(values), 3))
    record, thin_values = thin(steps, values, most)
    assert len(record) <= most and record == sorted(set(record))
    assert set(zip(record, thin_values, strict=True)) <= set(zip(steps, values, strict=True))
    assert (record[0], record[-1]) == (steps[0], steps[-1])
    assert (min(thin_values), max(thin_values)) == (min(values), max(values))


@given(st.integers(0, 4999), st.booleans(), st.integers(4, 300))
def test_a_spike_of_one_step_stays_wherever_it_is(at: int, up: bool, most: int) -> None:
    values = array("d", (2.0 + n % 7 / 100 for n in range(5000)))
    values[at] = 9.0 if up else -9.0
    assert (at, values[at]) in zip(*thin(range(5000), values, most), strict=True)


@given(st.lists(st.integers(0, 4999), max_size=20, unique=True))
def test_of_many_spikes_each_stretch_keeps_its_highest(at: list[int]) -> None:
    values = [9.0 + n % 97 if n in at else 1.0 for n in range(5000)]
    value_by_step = dict(zip(*thin(range(5000), values, 1002), strict=True))
    for begin in range(0, 5000, 10):  # 500 stretches
        high = max(values[begin : begin + 10])
        assert high == 1.0 or high in [value_by_step.get(step) for step in range(begin, begin + 10)]


def test_a_short_curve_is_left_alone() -> None:
    assert thin([1, 5], [2.0, 2.0]) == ([1, 5], [2.0, 2.0])


def a_trace(first: int, last: int, value: float, attempt: int = 1) -> Trace:
    return Trace(attempt, range(first, last + 1), [value] * (last + 1 - first))


def test_what_was_done_again_is_a_line_of_its_own() -> None:
    record, again = strands([a_trace(1, 9, 1.0), a_trace(5, 12, 2.0, 2)])
    assert record == ChartLine(0, tuple(range(1, 13)), (1.0,) * 4 + (2.0,) * 8)
    assert again == ChartLine(1, tuple(range(5, 10)), (1.0,) * 5)


def test_a_crash_loop_uses_few_lines() -> None:
    """Each attempt does steps 5 to 9 again: lines that would lie over each other are apart, and
    others share one.
    """
    lanes = strands(
        [a_trace(1, 9, 1.0), a_trace(5, 9, 2.0, 2), a_trace(5, 20, 3.0, 3), a_trace(15, 30, 4.0, 4)]
    )
    assert [(s.lane, s.steps[0], s.steps[-1]) for s in lanes] == [
        (0, 1, 30),
        (1, 5, 20),
        (2, 5, 9),
    ]
    assert lanes[1].values == (1.0,) * 5 + (3.0,) * 6


def test_an_attempt_that_went_back_further_takes_all_of_it_back() -> None:
    """What was reached before and not again is no part of what the run went on from."""
    lanes = strands([a_trace(1, 9, 1.0), a_trace(3, 4, 2.0, 2)])
    assert lanes[0].steps == (1, 2, 3, 4)


def test_what_is_not_finite_is_distinguished_and_drawn_nowhere() -> None:
    trace = Trace(1, [1, 2, 3, 4], [1.0, nan, inf, 4.0])
    assert not_finite([trace]) == [NonFiniteSpan(2, 3, 2)]
    assert strands([trace]) == [ChartLine(0, (1, 4), (1.0, 4.0))]
    assert strands([Trace(1, [1], [nan])]) == []


def test_sums_that_overflow_are_no_reason_to_drop_a_value() -> None:
    assert not_finite([Trace(1, [1, 2], [1.7e308, 1.7e308])]) == []


@pytest.mark.parametrize("points", [1, 24, 25, 1000])
def test_the_table_tells_each_stretch(points: int) -> None:
    values = tuple(float(n % 10) for n in range(points))
    rows = chart_table(ChartLine(0, tuple(range(points)), values))
    assert len(rows) <= 24 and (rows[0].first, rows[-1].last) == (0, points - 1)
    assert (min(row.least for row in rows), max(row.most for row in rows)) == (
        min(values),
        max(values),
    )
    assert rows[-1].newest == values[-1]


def test_a_long_stretch_without_a_finite_value_keeps_both_its_ends() -> None:
    values = [nan if 121 <= step <= 614 or step == 700 else 2.0 for step in range(1, 801)]
    spans = not_finite([Trace(1, range(1, 801), values)])
    assert spans == [NonFiniteSpan(121, 614, 494), NonFiniteSpan(700, 700, 1)]
    assert longest(spans, 1) == [NonFiniteSpan(121, 614, 494)]
