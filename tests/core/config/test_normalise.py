"""Two values are one value where they mean the same."""

import math

import pytest

from herorun.core.config.normalise import flatten, number, same, show_short, whole_number


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        ("1e-3", 0.001),
        ("1e-3", "0.001"),
        ("3E5", "300000"),
        ("7", 7),
        ((1, 2), [1, 2.0]),
        ([0.9, "1e-8"], (0.9, 1e-8)),
        (math.nan, "nan"),
        (math.nan, math.nan),
        (math.inf, "inf"),
        ({"a": (1,)}, {"a": [1.0]}),
        (None, None),
        (10**400, 10**400),
    ],
)
def test_one_meaning(one, other):
    assert same(one, other) and same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        ("true", True),
        (0, False),
        (None, "none"),
        (None, 0),
        ("1.10", "1.1"),
        ("007", "7"),
        ([1, 2], [2, 1]),
        ([1], [1, 1]),
        (1, [1]),
        ({"a": 1}, {"a": 1, "b": None}),
        (2**53, 2**53 + 1),
        (math.inf, -math.inf),
        (math.nan, 0.0),
        ("", None),
    ],
)
def test_two_meanings(one, other):
    assert not same(one, other) and not same(other, one)


@pytest.mark.parametrize(
    ("config", "flat"),
    [
        ({"a": {"b": {"c": 1}}, "d": 2}, {"a.b.c": 1, "d": 2}),
        ({"a.b": 1}, {"a.b": 1}),
        ({"a": {"b": 1}, "a.b": 2}, {"a.b": 1, '"a.b"': 2}),
        ({"a": {}}, {"a": {}}),
        ({"a": [1, 2]}, {"a": [1, 2]}),
        ({"a": [{"x": 1}, {"x": 2}]}, {"a.0.x": 1, "a.1.x": 2}),
        ({1: {True: "x"}}, {"1.True": "x"}),
        ({}, {}),
    ],
)
def test_nested_tables_as_dotted_keys(config, flat):
    assert flatten(config) == flat


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (200, 200),
        (2e5, 200_000),
        ("2e5", 200_000),
        ("200", 200),
        (-1, -1),
        (True, None),
        (1.5, None),
        (math.inf, None),
        (math.nan, None),
        ("x", None),
        (None, None),
        ([1], None),
    ],
)
def test_a_count(value, count):
    assert whole_number(value) == count


def test_a_number_that_is_too_long_for_python_is_infinite_and_no_error():
    assert number("1" * 5000) == math.inf


def test_a_long_value_is_cut():
    assert len(show_short("x" * 1000)) == 80
