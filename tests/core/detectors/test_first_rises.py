"""Rises among the first rows: few are enough where they hardly differ, or the rise is enormous."""

import math
from random import Random

import pytest

from builders import a_row
from curves import NAMES, curve, excursions_of, fold_curve
from herorun.core.detectors import first_rises
from herorun.core.detectors.first_rises import MAX_ROWS, RISES, ROWS, FirstRises
from herorun.core.detectors.reorder import WAITING

LATE = 10_000  # a step in the midst of a training


def rises(*losses, first=0, gap=100, norms=()):
    rows = curve(*losses, first=first, gap=gap)
    if norms:
        rows = [
            a_row(row.step, row.values["train/loss"], grad_norm=norm)
            for row, norm in zip(rows, norms, strict=True)
        ]
    return excursions_of(rows, "risen", names=NAMES)


@pytest.mark.parametrize(
    ("losses", "rows"),
    [
        # ten times the highest of three rows or more
        ([1.1, 0.9, 2.3, 24.0], 1),
        ([1.1, 0.9, 2.3, 22.0], 0),
        ([0.9, 2.3, 24.0], 0),
        # three times four rows within a tenth
        ([0.150, 0.147, 0.149, 0.148, 0.46], 1),
        ([0.150, 0.147, 0.149, 0.148, 0.44], 0),
        ([0.170, 0.147, 0.149, 0.148, 0.52], 0),
        # three rows at twice three rows within a fifth
        ([1.15, 1.0, 1.1, 2.4, 2.5, 2.4], 3),
        ([1.15, 1.0, 1.1, 2.4, 2.5, 2.2], 0),
        ([1.30, 1.0, 1.1, 2.7, 2.8, 2.7], 0),
        # three rows at one and a half times four rows within a tenth
        ([1.05, 1.0, 1.02, 1.04, 1.6, 1.7, 1.6], 3),
        ([1.05, 1.0, 1.02, 1.04, 1.5, 1.7, 1.6], 0),
        # near zero a ratio says nothing
        ([0.008, 0.007, 0.009, 0.3], 0),
        ([0.09, 0.09, 0.09, 0.09, 0.3], 0),
    ],
)
def test_how_many_rows_are_a_rise(losses, rows):
    excursions = rises(*losses)

    assert [each.rows for each in excursions] == ([rows] if rows else [])


@pytest.mark.parametrize(
    ("losses", "first", "rows"),
    [
        ([6.7, 690.0], LATE, 1),  # a hundred times all rows before
        ([6.7, 650.0], LATE, 0),
        ([6.7, 690.0], 0, 0),
        ([0.09, 690.0], LATE, 0),  # near zero a ratio says nothing
        ([0.17, 4.9, 5.3], LATE, 2),
        ([0.17, 4.9, 5.3], 0, 0),
        ([0.17, 4.9, 1.6], LATE, 0),
        ([2.66, 2.67, 4.4, 4.4, 4.4, 4.4, 4.4], LATE, 5),
        ([2.66, 2.67, 4.4, 4.4, 4.4, 4.4, 4.4], 0, 0),
        ([2.66, 2.67, 4.4, 4.4, 4.4, 4.4], LATE, 0),
        ([2.30, 2.67, 4.4, 4.4, 4.4, 4.4, 4.4], LATE, 0),
    ],
)
def test_a_record_from_the_midst_of_a_training_needs_fewer_rows(losses, first, rows):
    """It has its first descent behind it, and a loss that rises while it learns to rise as well."""
    assert sum(each.rows for each in rises(*losses, first=first, gap=1)) == rows


CALM = [0.34, 0.24, 0.27, 0.16]
NORMS = [128.0, 19.0, 20.0, 6.0]


@pytest.mark.parametrize(
    ("losses", "norms", "rows"),
    [
        ([2.9, 5.6, 7.0], [300.0, 580.0, 570.0], 2),
        ([2.9, 5.6, 7.0], [300.0, 380.0, 570.0], 0),  # the norm leaps less
        ([2.9, 0.9, 7.0], [300.0, 580.0, 570.0], 0),  # the loss leaps once
        ([2.9, 5.6, 7.0], [300.0, 580.0, math.nan], 0),
    ],
)
def test_two_rows_are_a_rise_where_the_gradient_norm_leaps_as_well(losses, norms, rows):
    first, *newest = losses
    before, *after = norms
    excursions = rises(first, *CALM, *newest, norms=[before, *NORMS, *after])

    assert [each.rows for each in excursions] == ([rows] if rows else [])


@pytest.mark.parametrize(
    ("climb", "rows"),
    [
        ([0.071, 0.075, 0.082, 0.086, 0.099, 0.157, 0.20, 0.25], 7),
        ([0.071, 0.075, 0.082, 0.086, 0.099, 0.157, 0.15, 0.25], 0),
        ([0.071, 0.075, 0.082, 0.086, 0.099, 0.11, 0.12, 0.14], 0),
    ],
)
def test_eight_rows_that_only_rise_to_twice_the_lowest_are_a_rise(climb, rows):
    fell = [0.25, 0.12, 0.09]

    assert sum(each.rows for each in rises(*fell, *climb)) == rows
    assert not rises(0.08, *climb)  # it has not come down: a loss that rises by nature does not


@pytest.mark.parametrize(
    ("losses", "rows"),
    [
        ([15.5, 13.0, 3.8, 2.4, 1.4, 5.8, 7.1, 10.0], 3),
        ([15.5, 13.0, 3.8, 2.4, 1.4, 5.8, 7.1, 6.9], 0),  # not further in each row
        ([15.5, 13.0, 3.8, 2.4, 1.4, 4.7, 7.1, 10.0], 0),  # not twice both rows before
        ([7.1, 6.9, 3.8, 2.4, 1.4, 5.8, 7.1, 10.0], 0),  # it had not come down to a third
        ([0.90, 0.80, 0.15, 0.09, 0.05, 0.20, 0.25, 0.30], 0),  # near zero a ratio says nothing
    ],
)
def test_a_loss_that_had_come_down_rises_in_three_rows(losses, rows):
    assert sum(each.rows for each in rises(*losses)) == rows


def test_a_rise_lasts_until_two_rows_are_back():
    (rise,) = rises(*[1.0, 1.01] * 3, 4.0, 5.0, 1.4, 3.0, 1.0, 1.0, *[1.0] * WAITING)

    assert (rise.rows, rise.open, rise.first_step, rise.last_step) == (3, False, 601, 901)
    assert rise.expected == pytest.approx(1.005, rel=1e-4)


def test_a_level_that_stays_is_accepted_in_the_end():
    (rise,) = rises(*[1.0, 1.01] * 3, *[4.0] * 600)

    assert (rise.rows, rise.open) == (MAX_ROWS, False)


def test_after_so_many_rows_the_trend_says_what_is_usual():
    calm = [1.0 + 0.01 * (place % 3) for place in range(ROWS)]

    assert rises(*calm[:-1], 4.0) and not rises(*calm, 4.0)


def test_a_loss_below_zero_ends_it():
    state = fold_curve(curve(1.0, 1.01, -0.1, 1.0, 1.02, 1.0, 4.0, *[1.0] * WAITING))

    assert state.loss.rises.is_over and not state.loss.rises.excursions()


def test_rows_that_do_not_rise_are_compared_with_none_before(monkeypatch):
    compared_rows = []
    monkeypatch.setattr(first_rises, "_is_risen", lambda *parts: compared_rows.append(parts))
    assert not rises(*(3.0 - 0.02 * place for place in range(ROWS - 1)))
    assert compared_rows == []


@pytest.mark.parametrize("first", [0, LATE])
def test_what_is_ruled_out_at_once_has_not_risen(first):
    random = Random(7)
    for _ in range(3000):
        losses = [random.choice((0.0, 0.05, 0.5, 1.0, 3.0)) for _ in range(random.randrange(1, 9))]
        state = FirstRises(first_step=first, steps=[*range(first, first + len(losses))])
        state.losses, state.norms = losses, [math.nan] * len(losses)
        risen_rows = [
            rise.newest
            for rise in RISES
            if (first or not rise.mid_training)
            and first_rises._is_risen(
                losses[
                    0
                    if rise.all_rows
                    else max(0, len(losses) - rise.newest - rise.before) : -rise.newest
                ],
                losses[-rise.newest :],
                rise,
            )
        ]
        assert first_rises._newest_risen(state)[0] == (risen_rows or [0])[0]
