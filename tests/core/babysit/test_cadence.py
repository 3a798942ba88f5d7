"""How far apart the ticks of many runs push to one remote."""

from datetime import timedelta

import pytest

from herorun.core.babysit.cadence import push_delay

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
