"""A new attempt against the one before it."""

import math

import pytest

from curves import curve, fold_curve, summarise

FALLING = [3.0 * (1 + i) ** -0.05 for i in range(400)]


def resume_of(*losses, first=300, **values):
    return summarise(
        fold_curve([*curve(*FALLING, **values), *curve(*losses, first=first, **values)])
    ).resume


def test_one_attempt_has_nothing_to_compare():
    assert summarise(fold_curve(curve(*FALLING))).resume is None


def test_equal_steps_are_compared_one_by_one():
    resume = resume_of(*(loss + 0.003 for loss in FALLING[300:]))

    assert (resume.step, resume.high_water, resume.compared) == (301, 400, 100)
    assert resume.early == pytest.approx([0.003] * 5) and resume.median == pytest.approx(0.003)
    assert resume.first_bad_step == 301


def test_the_worst_keeps_its_sign():
    lower = [loss - (0.05 if i == 10 else 0.0) for i, loss in enumerate(FALLING[300:])]
    resume = resume_of(*lower)

    assert (
        resume.worst == pytest.approx(-0.05) and resume.worst_step == resume.first_bad_step == 311
    )


def test_losses_whose_quotient_no_float_holds_are_compared():
    rows = [*curve(*[1e300] * 20), *curve(*[1e-300] * 5, first=10)]

    assert summarise(fold_curve(rows)).resume.compared == 5


def test_a_gap_has_no_overlap():
    resume = summarise(
        fold_curve([*curve(*FALLING, lr=0.1), *curve(*FALLING[:4], first=450)])
    ).resume
    assert resume is None  # the same attempt, for all that can be seen

    rows = [*curve(*FALLING)[::10], *curve(*FALLING)[305::10]]
    assert not summarise(fold_curve(rows)).resume.has_overlap


@pytest.mark.parametrize(("since", "after"), [(30, 0), (60, 50)])
def test_rows_lost_shortly_before_leave_no_level_to_compare_with(since, after):
    """The trend is then of long ago; fifty rows later it is known again."""
    losses = [2.0 + 4.0 * math.exp(-step / 300) for step in range(800)]
    rows = [
        *curve(*losses[:300]),
        *curve(*losses[460 : 460 + since], first=460),
        *curve(*losses[450 + since : 570 + since], first=450 + since),
    ]
    resume = summarise(fold_curve(rows)).resume

    assert (resume.step, resume.broken, resume.after) == (451 + since, not after, after)


def test_the_level_behind_the_warm_up_is_compared_with_the_trend():
    on = [3.0 * (1 + i) ** -0.05 * 1.08 for i in range(400, 500)]
    resume = resume_of(*FALLING[300:], *on)

    assert resume.median == 0.0 and resume.after == 50
    assert resume.offset == pytest.approx(math.log(1.08), abs=0.03)
    assert resume_of(*FALLING[300:], *on[:99]).after == 49


def test_a_jump_of_the_data_shortly_before_is_not_the_resumes():
    """The trend has not caught up with it: what went on at the level of the last rows went on
    well.
    """
    jumped_losses = [*[2.0] * 200, *[2.1] * 60]
    resume = summarise(fold_curve([*curve(*jumped_losses), *curve(*[2.1] * 170, first=230)])).resume

    assert resume.after == 50 and resume.offset == pytest.approx(0.0, abs=1e-6)


def test_a_spike_that_was_rolled_back_is_not_what_comes_behind_is_held_against():
    spiked_losses = [*[2.0] * 230, *[3.2] * 30]
    resume = summarise(fold_curve([*curve(*spiked_losses), *curve(*[2.0] * 170, first=230)])).resume

    assert resume.after == 50 and resume.offset == pytest.approx(0.0, abs=0.005)


def test_a_spike_shortly_before_hides_no_fall():
    losses = [2.0 + 4.0 * math.exp(-step / 300) for step in range(680)]
    spiked_losses = [*losses[:640], *(2.5 * loss for loss in losses[640:652]), *losses[652:]]
    falls = [
        summarise(fold_curve([*curve(*before), *curve(*losses[660:], first=660)])).resume.fall
        for before in (losses, spiked_losses)
    ]

    assert falls[1] == pytest.approx(falls[0], rel=0.2) and falls[0] > 0.04


def test_how_a_loss_fell_is_known_from_125_rows_on_of_all_attempts():
    resume = resume_of(*FALLING[300:])
    assert resume.fall == pytest.approx(0.05 * math.log(362 / 287), rel=0.02)

    young = [*curve(*FALLING[:124]), *curve(*FALLING[100:], first=100)]
    assert summarise(fold_curve(young)).resume.fall is None
    twice = [
        *curve(*FALLING[:200]),
        *curve(*FALLING[180:210], first=180),
        *curve(*FALLING[200:], first=200),
    ]
    assert summarise(fold_curve(twice)).resume.fall > 0.0


@pytest.mark.parametrize(("rows", "after"), [(40, 0), (100, 49), (101, 50), (140, 50)])
def test_the_warm_up_is_fifty_rows_and_so_is_what_is_averaged(rows, after):
    assert resume_of(*FALLING[300:], *[2.2] * (rows - 1)).after == after


def test_a_difference_is_bad_from_the_seeds_limit_on():
    assert resume_of(*(loss + 0.0021 for loss in FALLING[300:])).first_bad_step == 301
    assert resume_of(*(loss + 0.0019 for loss in FALLING[300:])).first_bad_step is None


def test_a_step_count_that_begins_again_is_no_resume():
    assert resume_of(*[2.0] * 5, first=0).counter_reset
    assert not resume_of(*FALLING[:5], first=0).counter_reset


def test_the_learning_rate_is_compared_at_the_same_step():
    rows = [*curve(*FALLING, lr=0.1), *curve(*FALLING[300:305], first=300, lr=0.2)]
    resume = summarise(fold_curve(rows)).resume

    assert (resume.rate_before, resume.rate_after, resume.rate_exact) == (0.1, 0.2, True)


def test_catching_up_does_not_move_the_trend():
    before = fold_curve(curve(*FALLING))
    after = fold_curve(curve(*[1.0] * 50, first=300), before)

    assert after.loss.trend.level == pytest.approx(math.log(FALLING[-1]), rel=0.05)
    assert after.loss.trend.rows == 400
