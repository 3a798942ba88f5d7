"""A loss below zero: a new level in units of the range of the rows before."""

import pytest

from curves import curve, excursions_of
from herorun.core.detectors.constant_loss import MAX_ROWS

USUAL = [-20.0 - 0.1 * (place % 7) - 0.01 * place for place in range(40)]


def steps(*losses):
    return excursions_of(curve(*losses), "stepped")


@pytest.mark.parametrize(
    ("newest", "rows"),
    [
        ([-15.0] * 5, 5),
        ([-15.0] * 4, 0),
        ([-15.0, -15.0, -20.3, -15.0, -15.0], 0),
        ([-19.5] * 5, 0),  # less than the range of the rows before
        ([-18.9] * 5, 5),
        ([2.0] * 5, 5),  # above zero
        ([-25.0] * 5, 0),
    ],
)
def test_five_rows_above_all_before_by_their_range_are_a_new_level(newest, rows):
    assert sum(each.rows for each in steps(*USUAL, *newest)) == rows


def test_it_does_not_depend_on_the_scale_or_the_zero_of_the_loss():
    for scale, zero in ((1.0, 0.0), (1e-4, -1.0), (1e6, -5e7)):
        (step,) = steps(*[scale * loss + zero for loss in (*USUAL, *[-15.0] * 6)])

        assert step.rows == 6
        assert step.peak == pytest.approx(8.4167, rel=1e-4)


def test_rows_of_equal_values_have_no_range():
    assert not steps(*[-1.0, -1.1] * 20, *[5.0] * 9)


def test_too_few_rows_show_nothing():
    assert not steps(*USUAL[:29], *[5.0] * 5)


def test_it_ends_where_the_loss_is_back_or_the_level_is_the_usual_one():
    (step,) = steps(*USUAL, *[-15.0] * 8, *[loss - 1.0 for loss in USUAL])
    assert (step.rows, step.open) == (8, False)

    (long_one,) = steps(*USUAL, *[-15.0 - 0.001 * (n % 3) for n in range(MAX_ROWS + 60)])
    assert (long_one.rows, long_one.open) == (MAX_ROWS, False)
