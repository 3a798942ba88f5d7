from dataclasses import replace
from datetime import timedelta

import pytest

from builders import NOON, a_history, a_row, an_excursion, answer, some_metrics
from curves import fold_curve, summarise
from herorun.checks.health.skipped_steps import Limits, skipped_steps
from herorun.core.detectors.nonfinite import SKIPS
from herorun.core.finding import Outcome


def often(rows):
    return some_metrics(excursions=(replace(an_excursion(rows, metric=SKIPS), kind="skipped"),))


@pytest.mark.parametrize(("rows", "outcome"), [(2, Outcome.PASS), (3, Outcome.FAIL)])
def test_three_are_enough(rows, outcome):
    assert answer(skipped_steps, often(rows)).outcome is outcome


def test_the_limit_is_the_contracts():
    assert answer(skipped_steps, often(3), limits=Limits(4)).outcome is Outcome.PASS


def test_rows_of_an_earlier_instance_do_not_count():
    assert answer(skipped_steps, often(3), a_history(0)).outcome is Outcome.NOT_APPLICABLE


def test_it_holds_a_relaunch_back():
    assert skipped_steps.vetoes_relaunch


# --- the fold -------------------------------------------------------------------------------------


def rows(*skipped_count, count=200, every=10.0, first=0):
    """Rows of which these are of skipped steps, each so many seconds after the one before."""
    return [
        a_row(n, 2.0, NOON + timedelta(seconds=n * every), skipped=float(n in skipped_count))
        for n in range(first, count)
    ]


def stretches_of(values):
    return summarise(fold_curve(values)).of("skipped")


def test_three_within_fifteen_minutes_are_one_stretch():
    (stretch,) = stretches_of(rows(100, 145, 190, count=191))

    assert (stretch.first_step, stretch.last_step, stretch.rows, stretch.open) == (
        101,
        191,
        3,
        True,
    )


def test_two_or_three_in_a_longer_time_are_none():
    assert stretches_of(rows(100, 190)) == ()
    assert stretches_of(rows(100, 145, 191)) == ()


def test_it_is_over_when_the_time_is():
    (stretch,) = stretches_of(rows(60, 70, 80, count=160))

    assert (stretch.rows, stretch.open) == (3, False)


def test_the_search_for_a_loss_scale_is_none():
    assert stretches_of(rows(0, 1, 2, 3, 4, 49)) == ()


def test_each_attempt_searches_again():
    again = [
        replace(row, at=row.at + timedelta(hours=3)) for row in rows(20, 21, 22, count=60, first=10)
    ]

    assert stretches_of([*rows(count=100), *again]) == ()


def test_without_times_it_is_not_asked():
    undated_rows = [replace(row, at=None) for row in rows(100, 110, 120)]

    assert summarise(fold_curve(undated_rows, seen_at=NOON)).of("skipped") == ()
