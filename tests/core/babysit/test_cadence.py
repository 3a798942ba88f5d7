"""When the next tick is due, and how far apart the ticks of many runs push to one remote."""

from datetime import timedelta

import pytest

from herorun.core.babysit.cadence import next_tick_delay, push_delay

SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("since_last", "cadence", "urgent", "delay"),
    [
        (0, 570, False, 12),
        (5, 570, False, 7),
        (12, 570, False, 0),
        (500, 570, False, 0),
        (0, 570, True, 2),  # those of a fleet's first ticks go together
        (2, 570, True, 0),
        (0, 5, True, 1),
        (0, 10, False, 2),  # a fifth of a short cadence
        (1, 10, False, 1),
    ],
)
def test_a_push_keeps_a_distance_from_the_last_which_is_less_if_it_is_urgent(
    since_last: int, cadence: int, urgent: bool, delay: int
) -> None:
    assert push_delay(since_last * SECOND, cadence * SECOND, urgent) == delay * SECOND


@pytest.mark.parametrize(
    ("took", "cadence", "delay"),
    [
        (0.3, 570, 2),
        (1, 570, 5),  # pushes take a fifth of the time
        (60, 570, 12),  # never longer than one that is not urgent
        (60, 10, 2),
    ],
)
def test_urgent_pushes_that_take_long_keep_a_greater_distance(
    took: float, cadence: int, delay: int
) -> None:
    assert push_delay(0 * SECOND, cadence * SECOND, True, took * SECOND) == delay * SECOND


@pytest.mark.parametrize(
    ("state", "delay"),
    [
        ({}, 900),
        ({"pending": True}, 120),
        ({"firing": True}, 570),
        ({"pending": True, "firing": True}, 120),
        ({"age": 30}, 90),  # two minutes after a start it is looked at
        ({"age": 120}, 900),
        ({"relaunched": True, "age": 3599}, 570),
        ({"relaunched": True, "age": 3600}, 900),
        ({"relaunched": True}, 900),  # of unknown age
        ({"wait": 40}, 40),
        ({"firing": True, "wait": 1000}, 570),
        ({"wait": 0.1}, 1),
        ({"cadence": 60, "firing": True}, 60),  # never later than the contract says
        ({"cadence": 60, "pending": True, "wait": 1000}, 60),
    ],
)
def test_the_next_tick_is_never_later_than_the_cadence_and_sooner_where_it_matters(
    state: dict[str, float], delay: float
) -> None:
    age, wait = (state[name] * SECOND if name in state else None for name in ("age", "wait"))
    computed_delay = next_tick_delay(
        state.get("cadence", 900) * SECOND,
        age,
        bool(state.get("relaunched")),
        bool(state.get("pending")),
        bool(state.get("firing")),
        wait,
    )
    assert computed_delay == delay * SECOND
