"""`--until`: a step, a time, or a mistake that says what is possible."""

from datetime import timedelta

import pytest

from builders import NOON
from herorun.core.babysit.stop_condition import StopCondition, parse_until
from herorun.core.errors import WrongUse

HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("step=5000", StopCondition(step=5000)),
        ("step=0", StopCondition(step=0)),
        ("time=6h", StopCondition(time=NOON + 6 * HOUR)),
        ("time=2026-01-02T12:00:00Z", StopCondition(time=NOON + 24 * HOUR)),
    ],
)
def test_what_it_may_be(text: str, condition: StopCondition) -> None:
    assert parse_until(text, NOON) == condition


@pytest.mark.parametrize(
    "text", ["", "5000", "step", "step=", "step=-1", "step=1e3", "step=\u0663", "time=", "epoch=3"]
)
def test_what_is_neither_is_refused(text: str) -> None:
    with pytest.raises(WrongUse):
        parse_until(text, NOON)


def test_it_is_reached_at_the_step_or_the_moment_and_not_before() -> None:
    at_step, at_time = StopCondition(step=10), StopCondition(time=NOON)

    assert [at_step.is_reached(step, NOON) for step in (None, 9, 10, 11)] == [
        False,
        False,
        True,
        True,
    ]
    assert [at_time.is_reached(99, NOON + n * HOUR) for n in (-1, 0, 1)] == [False, True, True]
    assert not StopCondition().is_reached(10**9, NOON)
