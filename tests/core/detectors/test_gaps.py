"""Rows that are missing: told apart from a trainer that logs more rarely, and nothing is compared
across.
"""

import pytest

from curves import curve, fold_curve, summarise

ON = [3.0 * (1 + n) ** -0.3 for n in range(900)]


def lost_names(rows):
    return summarise(fold_curve(rows)).lost


def test_steps_that_jump_ahead_and_continue_as_before_leave_a_gap():
    assert lost_names([*curve(*ON[:60]), *curve(*ON[460:500], first=460)]) == ((60, 461),)


@pytest.mark.parametrize("every", [2, 10, 100])
def test_a_trainer_that_logs_more_rarely_loses_none(every):
    assert lost_names([*curve(*ON[:60]), *curve(*ON[60:80], first=60 + every, gap=every)]) == ()


def test_rows_a_few_steps_apart_are_no_gap():
    assert lost_names([*curve(*ON[:60]), *curve(*ON[67:90], first=67)]) == ()


def test_a_step_that_goes_back_is_no_gap():
    assert lost_names([*curve(*ON[:60]), *curve(*ON[20:90], first=20)]) == ()


def test_no_level_is_compared_across_a_gap():
    """A young loss falls by a third while the rows are missing, and the resume has nothing to do
    with it.
    """
    resumed_rows = [*curve(*ON[:330]), *curve(*ON[300:350], first=300)]
    cut = summarise(fold_curve([*resumed_rows, *curve(*ON[750:880], first=750)])).resume
    assert (cut.after, cut.offset, cut.broken) == (0, 0.0, True)

    whole = summarise(fold_curve([*resumed_rows, *curve(*ON[350:480], first=350)])).resume
    assert (whole.after, whole.broken) == (50, False)


def test_an_attempt_that_begins_beyond_a_gap_is_not_compared():
    rows = [*curve(*ON[:200]), *curve(*ON[150:160], first=150), *curve(*ON[600:720], first=600)]

    assert summarise(fold_curve(rows)).resume.after == 0


def test_steps_that_leap_by_as_much_with_each_epoch_are_counted_that_way():
    """One gap may be a loss, three alike are none."""
    epochs = [curve(*ON[:60], first=70_001 * epoch) for epoch in range(4)]

    assert lost_names([row for rows in epochs for row in rows]) == ()
    assert len(lost_names([row for rows in epochs[:2] for row in rows])) == 1


@pytest.mark.parametrize("epochs", [2, 3])
def test_an_epoch_that_begins_at_a_round_step_is_no_gap(epochs):
    """`epoch * 100_000 + batch`."""
    rows = [row for n in range(epochs) for row in curve(*ON[:60], first=100_000 * n, gap=50)]

    assert lost_names(rows) == ()
    assert len(lost_names([*rows[:-40], *rows[-20:]])) == 1  # within the last epoch


def test_rows_that_are_lost_up_to_a_round_step_are_reported():
    assert len(lost_names([*curve(*ON[:300]), *curve(*ON[:60], first=1000)])) == 1
    assert len(lost_names([*curve(*ON[:60]), *curve(*ON[:60], first=100_050)])) == 1
