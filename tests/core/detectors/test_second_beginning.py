"""Weights that are begun anew before the trend has settled, and how alike two beginnings are."""

import pytest

from curves import curve, found

OPENING = [8.0, 7.0, 6.0, 5.5]
LEARNED = [2.0, 1.9, 1.8, 1.8, 1.7, 1.7, 1.6, 1.6]


def second(*losses):
    return found(curve(*OPENING, *LEARNED, *losses), "untrained")


def test_the_opening_is_known_again_before_row_30():
    (again,) = second(*OPENING, *LEARNED)

    assert again.first_step == len(OPENING + LEARNED + OPENING) and again.last_step < 30


@pytest.mark.parametrize(("times", "count"), [(1.09, 1), (0.92, 1), (1.13, 0), (0.88, 0)])
def test_it_may_differ_by_ten_per_cent(times, count):
    assert len(second(*(times * loss for loss in OPENING), *LEARNED)) == count


def test_three_rows_are_no_opening():
    assert not second(*OPENING[:3], *LEARNED)


def test_a_curve_that_has_not_fallen_to_half_has_nothing_to_forget():
    assert not found(curve(*OPENING, *[5.0] * 8, *OPENING, *[5.0] * 8), "untrained")
