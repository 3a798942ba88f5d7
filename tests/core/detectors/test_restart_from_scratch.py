"""Weights that are begun again before the trend has settled, and how alike two beginnings are."""

import pytest

from curves import curve, excursions_of, spikes

OPENING = [8.0, 7.0, 6.0, 5.5]
LEARNED_LOSSES = [2.0, 1.9, 1.8, 1.8, 1.7, 1.7, 1.6, 1.6]


def second(*losses):
    return excursions_of(curve(*OPENING, *LEARNED_LOSSES, *losses), "untrained")


def test_the_opening_is_known_again_before_row_30():
    (again,) = second(*OPENING, *LEARNED_LOSSES)

    assert again.first_step == len(OPENING + LEARNED_LOSSES) + 1 and again.last_step < 30


@pytest.mark.parametrize(("times", "count"), [(1.09, 1), (0.92, 1), (1.13, 0), (0.88, 0)])
def test_it_may_differ_by_ten_per_cent(times, count):
    assert len(second(*(times * loss for loss in OPENING), *LEARNED_LOSSES)) == count


def test_three_rows_are_no_opening():
    assert not second(*OPENING[:3], *LEARNED_LOSSES)


def test_a_curve_that_has_not_fallen_to_half_has_nothing_to_forget():
    assert not excursions_of(curve(*OPENING, *[5.0] * 8, *OPENING, *[5.0] * 8), "untrained")


FIRST = [11.0] * 6 + [11.0 * 0.97**i for i in range(60)]  # half of it after 29 rows
CALM = [1.8] * 300


@pytest.mark.parametrize(("rows", "count"), [(12, 0), (20, 0), (25, 1)])
def test_a_spike_near_the_opening_is_none_unless_it_lasts_as_the_first_descent_did(rows, count):
    assert len(excursions_of(curve(*FIRST, *CALM, *[11.0] * rows, *CALM), "untrained")) == count


def test_one_descent_is_one_excursion_from_the_row_where_the_spike_begins():
    rows = curve(*FIRST, *CALM, *FIRST, *CALM)
    (again,) = excursions_of(rows, "untrained")
    (spike,) = spikes(*FIRST, *CALM, *FIRST[:20])

    assert again.first_step == spike.first_step == len(FIRST + CALM) + 1
    assert not again.open


def test_one_row_in_between_does_not_end_a_second_beginning():
    rows = curve(*FIRST, *CALM, *FIRST[:20], 2.0, *FIRST[20:], *CALM)

    assert len(excursions_of(rows, "untrained")) == 1


def test_steps_that_begin_again_need_no_more_than_the_opening():
    rows = [*curve(*FIRST, *CALM), *curve(*FIRST[:5])]

    assert len(excursions_of(rows, "untrained")) == 1


def test_a_first_row_far_above_the_others_hides_no_restart():
    opening = [35_000.0, 1.05, 1.0, 0.96]
    rows = [*curve(*opening, *[0.9] * 60), *curve(*opening, *[0.95] * 4)]

    assert len(excursions_of(rows, "untrained")) == 1
