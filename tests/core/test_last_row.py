"""How many updates the last row lacks."""

from dataclasses import replace

import pytest

from builders import some_metrics
from herorun.core.evidence import Metrics
from herorun.core.seal.last_row import missing_updates, stride


def rows(count: int, step: int, attempts: int = 1) -> Metrics:
    return some_metrics(step, rows=count, first_step=0, attempts=attempts)


@pytest.mark.parametrize(
    ("metrics", "updates"),
    [
        (None, 1),
        (rows(1, 100), 1),
        (rows(101, 100), 1),
        (rows(11, 100), 10),
        (rows(2, 100), 100),
        (replace(rows(11, 1100), first_step=1000), 10),  # a record that begins late
        (rows(11, 100, attempts=2), 1),  # the rows of two attempts overlap
    ],
)
def test_the_updates_between_two_rows(metrics: Metrics | None, updates: int) -> None:
    assert stride(metrics) == updates


@pytest.mark.parametrize(("final", "missing"), [(100, 0), (109, 0), (110, 10), (125, 25)])
def test_what_a_trainer_leaves_out_at_the_end_is_not_missing(final: int, missing: int) -> None:
    assert missing_updates(100, final, rows(11, 100)) == missing
