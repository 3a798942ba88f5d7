"""Curves in Mermaid: few points, no extreme lost, and nothing in a name that could end the
drawing.
"""

import re
from math import inf, nan

import pytest
from hypothesis import given, settings, strategies as st

from herorun.core.redaction.scrub import scrub
from herorun.core.report.mermaid import STYLE, picture


def lines(text: str) -> list[list[float]]:
    return [[float(n) for n in match.split(",")] for match in re.findall(r"line \[(.*)\]", text)]


def test_a_smooth_curve_is_one_line_in_a_fence() -> None:
    assert picture("Loss", "train/loss", [1, 2, 3], [3.0, 2.5, 2.0]).splitlines() == [
        "```mermaid",
        STYLE,
        "xychart-beta",
        '    title "Loss"',
        '    x-axis "step" 1 --> 3',
        '    y-axis "train/loss" 1.95 --> 3.05',
        "    line [3, 2.5, 2]",
        "```",
    ]


@settings(max_examples=20)
@given(st.integers(0, 9999))
def test_a_spike_of_one_step_is_in_it(at: int) -> None:
    text = picture(
        "Loss", "loss", range(10_000), [9.0 if n == at else 2 + n % 5 / 10 for n in range(10_000)]
    )
    high, low = lines(text)
    assert len(high) == len(low) == 48 and max(high) == 9.0 and min(low) == 2.0
    assert len(text) < 2000


def test_where_no_row_is_the_line_goes_straight_on() -> None:
    (only,) = lines(picture("Loss", "loss", [0, 9, 10], [4.0, 1.0, 1.0], most=3))
    assert only == [4.0, 2.5, 1.0]


@given(st.lists(st.floats(), min_size=2, max_size=60))
def test_any_numbers_come_without_exponents(values: list[float]) -> None:
    text = picture("t", "u", range(len(values)), values)
    assert not re.search(r"\d[eE][+-]?\d", text.replace(STYLE, "").replace("(1e", "("))
    assert "nan" not in text and "inf" not in text.replace("finite", "")
    assert len(text) < 4000


def test_what_is_not_finite_is_reported() -> None:
    assert ", 2 not finite" in picture("Loss", "loss", range(5), [1.0, nan, inf, 2.0, 3.0], most=9)


@pytest.mark.parametrize("values", [[], [1.0], [nan, 1.0]])
def test_less_than_two_points_are_no_drawing(values: list[float]) -> None:
    assert picture("Loss", "loss", range(len(values)), values) == ""


def test_a_name_cannot_end_the_drawing() -> None:
    text = picture('a"\n```\n<script>', 'x"]\nline [1]', [1, 2], [1.0, 2.0])
    assert text.count("```") == 2 and text.replace(STYLE, "").count('"') == 6 and "<" not in text
    assert len(lines(text)) == 1 and len(text.splitlines()) == 8


def test_numbers_do_not_look_like_a_secret() -> None:
    """What is posted is scrubbed once more on its way."""
    text = picture(
        "Throughput", "tokens_per_s", range(5000), [4e5 + n * 7919 % 10_007 for n in range(5000)]
    )
    assert scrub(text) == text


def test_small_values_are_drawn_in_the_units_power_of_ten() -> None:
    text = picture("Rate", "lr", [1, 2, 3], [3e-7, 2e-7, 1e-7])
    assert lines(text) == [[3, 2, 1]] and "(1e-7)" in text
