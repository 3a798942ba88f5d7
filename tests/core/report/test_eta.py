"""When it will be done: a range from what was really gained, and none where there is nothing to go
by.
"""

from datetime import datetime, timedelta

import pytest

from builders import NOON
from herorun.core.goodput.instances import micros
from herorun.core.goodput.timeline import Beat
from herorun.core.report.eta import Eta, eta
from screens.notices import Notice
from wording import mentions

MINUTE = timedelta(minutes=1)


def beats(*parts: tuple[datetime, int, int, float]) -> list[Beat]:
    """Each part: when it begins, its first step, how many rows, and minutes between them."""
    return [
        Beat(micros(since + n * minutes * MINUTE), first + n)
        for since, first, rows, minutes in parts
        for n in range(rows)
    ]


def test_a_steady_run_has_a_narrow_range() -> None:
    """A step a minute for two days: 120 are left, so it takes two hours, and the minute until the
    next row.
    """
    estimate = eta(beats((NOON - 2880 * MINUTE, 1, 2881, 1)), 3001, NOON)
    assert estimate.earliest is not None and estimate.latest is not None
    assert estimate.earliest == NOON + timedelta(hours=2)
    assert estimate.latest - estimate.earliest < MINUTE
    assert mentions(estimate.why, "120 steps")


def test_time_that_was_lost_widens_it() -> None:
    """Half of the time it was down: the whole run's pace is half of the last hour's."""
    estimate = eta(
        beats((NOON - 400 * MINUTE, 1, 101, 1), (NOON - 100 * MINUTE, 101, 101, 1)), 300, NOON
    )
    assert estimate.earliest == NOON + timedelta(minutes=99)
    assert estimate.latest is not None and estimate.latest > NOON + timedelta(minutes=190)


def test_steps_that_are_done_again_gain_nothing() -> None:
    """It fell back from 200 to 101 two hours ago: only what is beyond 200 counts."""
    estimate = eta(
        beats((NOON - 400 * MINUTE, 1, 200, 1), (NOON - 120 * MINUTE, 101, 121, 1)), 1000, NOON
    )
    steady = eta(beats((NOON - 220 * MINUTE, 1, 221, 1)), 1000, NOON)
    assert (
        estimate.latest is not None
        and steady.latest is not None
        and estimate.latest > steady.latest
    )


RUNNING = beats((NOON - 60 * MINUTE, 1, 61, 1))


@pytest.mark.parametrize(
    "result",
    [
        eta(RUNNING, None, NOON),
        eta(RUNNING, 61, NOON),
        eta(RUNNING, 100, NOON, "none: the run is down"),
        eta([], 100, NOON),
        eta(RUNNING[:4], 100, NOON),
        eta(RUNNING, 100, NOON + 30 * MINUTE),
    ],
)
def test_where_nobody_can_tell_it_says_so(result: Eta, notice: Notice) -> None:
    assert (result.earliest, result.latest) == (None, None)
    assert result.text == notice


def test_an_evaluation_of_some_minutes_is_no_standstill() -> None:
    assert eta(RUNNING, 100, NOON + 9 * MINUTE).earliest is not None


def test_in_words_it_is_a_range() -> None:
    estimate = Eta(NOON, NOON + timedelta(hours=3), "")
    assert (
        estimate.text == f"{NOON:%Y-%m-%d %H:%M} to {NOON + timedelta(hours=3):%Y-%m-%d %H:%M} UTC"
    )
    assert Eta(NOON, NOON, "").text == f"{NOON:%Y-%m-%d %H:%M} UTC"


def test_a_slow_beginning_is_part_of_the_whole_runs_pace() -> None:
    """500 minutes for the first step, then 100 steps at one a minute."""
    rows = beats((NOON - 600 * MINUTE, 1, 1, 1), (NOON - 100 * MINUTE, 2, 101, 1))
    estimate = eta(rows, 300, NOON)
    assert estimate.latest is not None and estimate.latest > NOON + 1000 * MINUTE
