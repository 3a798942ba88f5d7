"""The shape of the loss: each tier begins and ends where it should."""

import math
from dataclasses import replace

import pytest

from curves import CALM, NAMES, NAN, curve, excursions_of, fold_curve, spikes, summarise
from herorun.core.detectors.baseline import FLOOR
from herorun.core.detectors.excursion import MAX_CLOSED
from herorun.core.detectors.loss import FREEZE
from herorun.core.detectors.loss_state import SIGNED_ROWS
from herorun.core.detectors.reorder import WAITING
from herorun.core.detectors.windows import MAX_ROWS


def trend(rows):
    return fold_curve(rows).loss.trend


# --- the trend ------------------------------------------------------------------------------------


def test_the_trend_follows_a_falling_loss():
    falling = [4.0 * (1 + step) ** -0.1 for step in range(2000)]

    assert spikes(*falling) == ()
    assert math.exp(trend(curve(*falling)).level) == pytest.approx(falling[-1], rel=0.02)


def test_the_trend_is_the_one_that_was_measured():
    """A golden value: any change of a constant of the trend moves it."""
    wavy = [2.5 - 0.0005 * i + 0.05 * math.sin(i) for i in range(300)]
    measured_trend = trend(curve(*wavy))

    assert (measured_trend.level, measured_trend.scale) == (
        pytest.approx(0.871011, abs=1e-6),
        pytest.approx(0.02012191, abs=1e-8),
    )


@pytest.mark.parametrize(("rows", "far"), [(8, True), (24, False)])
def test_a_loss_that_stays_below_the_trend_draws_it_down(rows, far):
    """Eight rows below are chance; from then on half of the way is gone every twelve rows, and not
    every fifty.
    """
    calm = [2.0 * math.exp(0.1 * (-1) ** i) for i in range(300)]
    difference = trend(curve(*calm, *[1.7] * (rows + WAITING))).level - math.log(1.7)

    assert difference == pytest.approx(0.1386 if far else 0.055, rel=0.01)


def test_a_rise_on_a_falling_loss_is_not_hidden_behind_what_lags():
    falling = [8.0 * 0.995**i for i in range(300)]
    (spike,) = spikes(*falling, *(1.8 * 8.0 * 0.995**i for i in range(300, 312)))

    assert spike.rows == 12 and spike.first_step == 301


@pytest.mark.parametrize("first", [[1e4], [1e6, 3e4, 5e3]])
def test_a_huge_first_row_hides_no_spike(first):
    """Its level came down by half a logarithm a row at most, and stayed too high for sixty rows."""
    steady = [10.0 * math.exp(0.01 * (-1) ** i) for i in range(45)]
    (spike,) = spikes(*first, *steady, *[30.0] * 12)

    assert spike.first_step == len(first) + 46 and spike.rows == 12
    assert spike.expected == pytest.approx(10.0, rel=0.02)


def test_a_young_loss_that_falls_steadily_keeps_its_trend():
    falling = [8.0 * 0.93**i for i in range(28)]

    assert trend(curve(*falling, *falling[-1:] * WAITING)).rows == 28


def test_noise_has_a_floor():
    assert trend(curve(*[2.0] * 500)).scale == FLOOR == 0.003


# --- spikes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("before", "count"), [([0.14, 0.12] * 8, 1), ([0.14, 0.06] * 8, 0)])
def test_a_leap_of_a_calm_young_curve_is_a_spike_though_its_first_row_was_higher(before, count):
    rows = curve(12.0, 5.0, 1.6, *before, 14.0, 0.85, *[0.14] * 4, *[0.14] * WAITING, gap=100)
    found_spikes = [
        s for s in fold_curve(rows).loss.spike.excursions("spike", "loss") if s.rows > 1
    ]

    assert len(found_spikes) == count
    assert all(s.expected == pytest.approx(0.14) for s in found_spikes)


def level(*values, kind="shifted", gap=10):
    return [e for e in fold_curve(curve(*values, gap=gap)).loss.excursions() if e.kind == kind]


def wavy(mean, count, width=0.2):
    return [mean * math.exp(width * math.sin(2.4 * i)) for i in range(count)]


# `wavy(1, n, width)` has a range of 2 x width, as a logarithm, and its highest row is at 1 x width


def rows_until(before, after, kind, gap=1):
    """How many of the rows `after` show such an excursion; None if they never do. They are folded
    one by one, and again at once as far as it shows and to the row before that.
    """
    rows, start = curve(*before, *after, gap=gap), len(before)
    state, first = fold_curve(rows[:start]), None
    for count, row in enumerate(rows[start:], 1):
        state = fold_curve([row], state, keep_closed=True)
        if summarise(state).of(kind):
            first = count
            break
    assert bool(excursions_of(rows[: start + (first or len(after))], kind)) is bool(first)
    assert (first or 1) == 1 or not excursions_of(rows[: start + first - 1], kind)
    return first


def rows_until_shifted(before, after, gap=1):
    return rows_until(before, after, "shifted", gap)


@pytest.mark.parametrize(
    ("times", "width", "rows"),
    [
        (3.0, 0.3, 3),  # never fewer
        (2.0, 0.1, 3),
        (2.0, 0.2, 5),  # six ranges are 2.4: five rows of 0.49
        (2.0, 0.3, 9),
        (1.5, 0.08, 4),
        (1.5, 0.2, 10),  # ten rows at half above thirty rows need no range ...
        (1.52, 0.3, 10),
        (1.48, 0.3, None),
        (1.35, 0.01, 4),  # an area of 1: four rows of 0.29
        (1.27, 0.01, 5),
        (1.27, 0.1, 9),
        (1.21, 0.001, None),  # hardly more than a fifth above the usual
    ],
)
@pytest.mark.parametrize("gap", [1, 500])
def test_a_new_level_is_found_by_size_times_duration(times, width, rows, gap):
    """However far apart the rows are."""
    assert rows_until_shifted(wavy(1.0, 60, width), [times] * 20, gap) == rows


@pytest.mark.parametrize(
    ("before", "rows"), [(30, 4), (29, 6), (20, 6), (19, 7), (12, 7), (11, None), (7, None)]
)
def test_the_fewer_rows_before_the_more_it_takes(before, rows):
    assert rows_until_shifted([3.0, *wavy(1.0, before, 0.12)], [1.6] * 20) == rows


def test_after_many_rows_a_dozen_rows_before_need_more_than_among_the_first():
    """A spike that was found is no part of what is usual, so the rows before it still count."""
    falling = [2.0 * 0.98**i for i in range(100)]
    calm = wavy(0.27, 12, 0.02)

    assert rows_until_shifted([*falling[:20], *calm], [0.5] * 20) == 3
    assert rows_until_shifted([*falling, *calm], [0.33] * 20) is None


@pytest.mark.parametrize(
    ("times", "rows", "otherwise"), [(1.01, 26, None), (1.03, 11, 20), (1.003, None, None)]
)
def test_a_slow_rise_is_added_up_where_the_loss_had_fallen(times, rows, otherwise):
    rising = [times**i for i in range(60)]

    assert rows_until_shifted([*[3.0] * 4, *wavy(1.0, 80, 0.01)], rising) == rows
    assert rows_until_shifted(wavy(1.0, 84, 0.01), rising) == otherwise


@pytest.mark.parametrize(
    ("times", "width", "rows"),
    [
        (1.17, 0.06, 37),  # a divergence that its noise hid
        (1.17, 0.1, None),  # more than two rows are as low as some before
        (1.03, 0.001, 37),
        (1.015, 0.001, None),
    ],
)
def test_a_small_rise_that_stays_is_found_where_the_loss_had_fallen(times, width, rows):
    falling = [3.0, 2.6, 2.2, 1.8, 1.4, *wavy(1.0, 75, width)]
    interrupted_losses = [*wavy(times, 15, width), *[0.9] * 3, *wavy(times, 36, width)]

    assert rows_until(falling, wavy(times, 60, width), "raised") == rows
    assert rows_until(falling, interrupted_losses, "raised") is None
    assert rows_until(wavy(1.0, 80, width), wavy(times, 60, width), "raised") is None


def test_a_raised_level_begins_with_its_rows_and_ends_after_three_lower_ones():
    falling = [3.0, 2.6, 2.2, 1.8, 1.4, *wavy(1.0, 75, 0.01)]
    higher = wavy(1.2, 50, 0.01)

    (open_one,) = excursions_of(curve(*falling, *higher, *[1.0] * 2), "raised")
    (ended_one,) = excursions_of(curve(*falling, *higher, *[1.0] * 3), "raised")

    assert (open_one.open, ended_one.open) == (True, False)
    assert open_one.rows in (50, 53)  # with the three of before that were no part of it
    assert open_one.height == pytest.approx(1.2, rel=0.02)


def test_values_that_were_rounded_until_they_are_the_same_have_no_range():
    assert rows_until_shifted([1.0, 1.1, 1.2, 1.1] * 15, [1.6] * 5) is None


def test_a_level_after_a_spike_is_found_as_soon():
    spike = [*wavy(1.0, 60, 0.01), *[3.0] * 5, *wavy(1.0, 12, 0.01)]

    assert len(excursions_of(curve(*spike, *[1.6] * 2), "shifted")) == 1
    assert len(excursions_of(curve(*spike, *[1.6] * 3), "shifted")) == 2


def test_a_shift_continues_down_to_the_highest_row_before_or_a_tenth_above_the_usual():
    def after(last, width=0.01):
        return level(*wavy(1.0, 60, width), *[1.6] * 14, *[last] * 12, gap=100)[0].open

    assert after(1.2) and not after(1.05)
    assert not after(1.2, width=0.2)


def test_a_level_is_over_with_its_second_row_back_and_one_outlier_before_hides_none():
    (shift,) = level(*wavy(1.0, 30), 9.0, *wavy(1.0, 29), *[2.5] * 14, *wavy(1.0, 12))

    assert (shift.rows, shift.open, shift.first_step) == (14, False, 601)


def test_a_level_that_stays_is_accepted_in_the_end():
    (shift,) = level(*wavy(1.0, 60), *[2.5] * 600)

    assert (shift.open, shift.rows) == (False, MAX_ROWS)


def test_twelve_steps_are_one_open_spike():
    (spike,) = spikes(*CALM, *[3.2] * 12)

    assert (spike.metric, spike.first_step, spike.last_step, spike.rows, spike.open) == (
        "loss",
        61,
        72,
        12,
        True,
    )
    assert spike.expected == pytest.approx(2.0) and spike.peak == pytest.approx(1.6)
    assert spike.usual == pytest.approx(1.6, abs=0.01) and spike.sigmas > 100


def test_a_blip_of_two_rows_is_a_spike_of_two_rows():
    (spike,) = spikes(*CALM, 9.0, 9.0, *[2.0] * 10)

    assert (spike.rows, spike.open) == (2, False)


@pytest.mark.parametrize(("ratio", "count"), [(1.2, 0), (1.49, 0), (1.51, 1), (1.8, 1)])
def test_a_spike_begins_half_above_the_trend(ratio, count):
    assert len(spikes(*CALM, 2.0 * ratio)) == count


def test_one_row_back_in_bounds_does_not_end_a_spike():
    (one,) = spikes(*CALM, *[3.2] * 5, 2.0, *[3.2] * 5)
    assert (one.rows, one.last_step - one.first_step + 1) == (10, 11)

    assert [e.rows for e in spikes(*CALM, *[3.2] * 5, 2.0, 2.0, *[3.2] * 5)] == [5, 5]


def test_a_spike_does_not_raise_its_own_expectation():
    (spike,) = spikes(*CALM, *[3.2] * 400)

    assert spike.rows == 400 and spike.expected == pytest.approx(2.0)
    assert math.exp(trend(curve(*CALM, *[3.2] * 400)).level) == pytest.approx(2.0, rel=0.01)


def test_a_new_level_is_accepted_in_the_end():
    (spike,) = spikes(*CALM, *[3.2] * (FREEZE + 100))

    assert (spike.rows, spike.open) == (FREEZE + 1, False)
    assert math.exp(trend(curve(*CALM, *[3.2] * (FREEZE + 100))).level) == pytest.approx(3.2)


def test_what_ended_is_forgotten_by_the_next_look_but_one():
    ended_state = fold_curve(curve(*CALM, *[3.2] * 12, *[2.0] * 20))

    assert [e.open for e in summarise(ended_state).spikes] == [False]
    assert summarise(fold_curve([], ended_state)).spikes == ()
    assert (
        summarise(fold_curve([], ended_state, keep_closed=True)).spikes
        == summarise(ended_state).spikes
    )


def test_many_blips_do_not_push_the_long_one_out():
    blips = [value for _ in range(MAX_CLOSED + 12) for value in (9.0, 2.0, 2.0)]

    rows = [e.rows for e in spikes(*CALM, *[3.2] * 12, 2.0, 2.0, *blips)]
    assert len(rows) == MAX_CLOSED and max(rows) == 12


def test_the_largest_numbers_are_survived():
    (spike,) = spikes(*[1e-300] * 60, 1e300)

    assert math.isfinite(spike.peak) and spike.peak > 1e300


def test_a_restart_ends_what_was_open_and_still_tells_it():
    metrics = summarise(fold_curve([*curve(*CALM, *[3.2] * 12), *curve(2.0, 2.0, first=25)]))

    assert [(e.rows, e.open) for e in metrics.spikes] == [(12, False)]


# --- a young curve --------------------------------------------------------------------------------


def test_a_young_curve_is_judged_by_its_highest_value():
    (spike,) = spikes(2.775, 2.772, 2.768, 7.3, 8.7, 7.6, 7.2, 6.8, first=29020, gap=10)

    assert (spike.rows, spike.steps) == (5, 41)


def test_one_row_alone_asks_for_three_times_as_much():
    assert [e.rows for e in spikes(6.5, 32.3, 27.2, 51.5)] == [3]
    assert spikes(6.5, 9.0, 12.0, 13.0) == ()
    assert spikes(1.0, 2.9) == () and len(spikes(1.0, 3.1)) == 1


def test_a_young_curve_that_wavers_is_left_alone():
    assert spikes(1.2, 0.69, 2.16, 2.75, 3.49, 5.47, 1.98, 2.07, 6.28, 4.27) == ()


def test_rows_that_lie_far_apart_say_nothing_while_young():
    assert spikes(270.0, 268.0, 1100.0, 1220.0, 1720.0, gap=2000) == ()
    assert spikes(2.0, 2.0, 2.0, 4.0, gap=21) == () and len(spikes(2.0, 2.0, 2.0, 4.0, gap=20)) == 1


def test_what_began_among_dense_rows_continues_over_a_gap():
    rows = [*curve(3.3, 3.4, 3.7, 7.3, 4.1, 7.6), *curve(7.0, first=300)]
    (spike,) = summarise(fold_curve(rows)).spikes

    assert (spike.rows, spike.first_step, spike.last_step, spike.open) == (3, 4, 301, True)


# --- smaller and slower ---------------------------------------------------------------------------


def test_a_raised_level_is_elevated_and_no_spike():
    wavy = [2.0 + 0.004 * math.sin(i) for i in range(200)]
    raised_excursions = [
        e for e in excursions_of(curve(*wavy, *[2.1] * 21), "elevated") if e.rows >= 20
    ]

    assert len(raised_excursions) == 1 and raised_excursions[0].first_step == 201
    assert excursions_of(curve(*wavy, *[2.03] * 21), "elevated") == ()
    assert spikes(*wavy, *[2.1] * 30) == ()


def test_a_slow_rise_is_a_drift():
    slow = [2.0 * (1 + max(i - 200, 0) * 0.0004) for i in range(500)]
    (drift,) = excursions_of(curve(*slow), "drift")

    assert drift.open and drift.rows > 25
    assert excursions_of(curve(*[2.0] * 500), "drift") == ()
    assert [
        e.rows
        for e in excursions_of(
            curve(*[2.0 * (1 + max(i - 200, 0) * 0.000005) for i in range(500)]), "drift"
        )
    ] == []


def test_a_curve_that_had_fallen_and_rises_for_good_has_diverged():
    falls = [4.0 * 0.99 ** min(i, 100) for i in range(400)]
    rises = [falls[-1] * 1.002**i for i in range(600)]
    (diverged_excursion,) = excursions_of(curve(*falls, *rises), "diverged")

    assert diverged_excursion.peak > 1.5
    # it rises by nature
    assert excursions_of(curve(*[2.0 * 1.002**i for i in range(600)]), "diverged") == ()


@pytest.mark.parametrize(("value", "rows"), [(0.0, 12), (-1.0, 0)])
def test_a_loss_of_exactly_zero_is_a_collapse(value, rows):
    assert sum(e.rows for e in excursions_of(curve(*CALM, *[value] * 12), "collapsed")) == rows
    assert spikes(*CALM, *[value] * 12) == ()


@pytest.mark.parametrize(("rows", "count"), [(SIGNED_ROWS - 1, 0), (SIGNED_ROWS + 40, 1)])
def test_a_loss_that_was_below_zero_is_held_against_nothing_for_five_hundred_rows(rows, count):
    assert SIGNED_ROWS == 500
    assert len(spikes(*CALM, -0.1, *[2.0] * rows, *[3.2] * 12)) == count


def test_what_was_open_ends_with_a_loss_below_zero():
    metrics = fold_curve(curve(*CALM, *[3.2] * 12, -0.1, *[2.0] * 10))

    assert [(e.rows, e.open) for e in summarise(metrics).spikes] == [(12, False)]


@pytest.mark.parametrize(("wave", "count"), [(0.11, 1), (0.14, 0)])
def test_a_divergence_stands_three_times_out_of_the_noise(wave, count):
    levels = [
        *[4.0] * 60,
        *[2.0] * 600,
        *(2.0 * 1.6 ** (i / 600) for i in range(600)),
        *[3.2] * 900,
    ]
    rows = curve(*(level * math.exp(wave * (-1) ** i) for i, level in enumerate(levels)))

    assert len([e for e in excursions_of(rows, "diverged") if e.rows >= 50]) == count


def test_the_opening_rows_seen_again_are_an_untrained_model():
    opening, learned_losses = [32.0, 5.9, 5.8, 5.8], [5.5 * 0.97**i for i in range(100)]
    (again,) = excursions_of(
        curve(*opening, *learned_losses, 32.5, 5.9, 5.8, 5.7, *learned_losses[:20]), "untrained"
    )

    assert again.first_step == 105
    assert (
        excursions_of(curve(*opening, *learned_losses, 32.5, 2.9, 1.8, 0.7, 0.5), "untrained") == ()
    )  # a spike that recovers
    # too young to tell
    assert excursions_of(curve(*opening, *[5.5] * 3, 32.5, 5.9, 5.8, 5.7), "untrained") == ()


# --- phases ---------------------------------------------------------------------------------------


def test_what_begins_behind_a_declared_phase_is_marked():
    rows = curve(*CALM, *CALM, *CALM, *[2.2] * 60)
    phase_names = replace(NAMES, phases=(180,))

    assert [e.declared for e in excursions_of(rows, "elevated")] == [False]
    assert [e.declared for e in excursions_of(rows, "elevated", names=phase_names)] == [True]
    assert not any(
        e.first_step < 200
        for e in excursions_of(rows, "drift", names=phase_names)
        if not e.declared
    )


# --- values that are no numbers -------------------------------------------------------------------


@pytest.mark.parametrize("value", [NAN, math.inf, -math.inf])
def test_a_non_finite_loss_is_an_open_excursion(value):
    (broken_excursion,) = summarise(fold_curve(curve(*CALM, value))).non_finite

    assert (
        broken_excursion.metric,
        broken_excursion.first_step,
        broken_excursion.rows,
        broken_excursion.open,
    ) == (
        "train/loss",
        61,
        1,
        True,
    )


def test_it_closes_at_the_next_finite_value():
    (broken_excursion,) = summarise(fold_curve(curve(*CALM, NAN, NAN, 2.0))).non_finite

    assert (broken_excursion.rows, broken_excursion.last_step, broken_excursion.open) == (
        2,
        62,
        False,
    )


def test_it_never_enters_the_trend():
    assert summarise(fold_curve(curve(*CALM, NAN, math.inf))).spikes == ()
    assert trend(curve(*CALM, *[NAN] * 20)).level == pytest.approx(trend(curve(*CALM)).level)


# --- one value for ever ---------------------------------------------------------------------------

LIVELY = [2.0 + 0.01 * (i % 7) for i in range(60)]


@pytest.mark.parametrize(("rows", "count"), [(20, 0), (21, 1)])
def test_a_loss_that_stays_constant_for_twenty_rows_is_frozen(rows, count):
    stretches = excursions_of(curve(*LIVELY, *[2.5] * rows), "frozen")

    assert len(stretches) == count
    assert all(e.expected == 2.5 and e.open for e in stretches)


@pytest.mark.parametrize(("rows", "count"), [(50, 0), (51, 1)])
def test_a_log_that_repeats_each_value_must_stay_constant_for_longer(rows, count):
    repeated_losses = [value for value in LIVELY for _ in range(11)]

    assert len(excursions_of(curve(*repeated_losses, *[2.5] * rows), "frozen")) == count


@pytest.mark.parametrize(("changes", "count"), [(30, 0), (31, 1)])
def test_it_must_have_moved_before(changes, count):
    assert len(excursions_of(curve(*LIVELY[: changes - 1], *[2.5] * 40), "frozen")) == count


def test_the_next_value_ends_it_and_zeros_are_another_matter():
    (over,) = excursions_of(curve(*LIVELY, *[2.5] * 40, 2.4), "frozen")

    assert over.rows == 20 and not over.open
    assert excursions_of(curve(*LIVELY, *[0.0] * 40), "frozen") == ()


# --- the first descent, and losses that are zero by nature ----------------------------------------


@pytest.mark.parametrize("at", [32, 40, 60, 90])
def test_the_first_descent_is_no_noise(at):
    """A level that lags behind a steep fall says nothing of how the rows waver."""
    falling = [max(0.0088, 2.3 * math.exp(-i / 5)) for i in range(at)]
    spike, *_ = spikes(*falling, 229.0, 90.0, 40.0, *[4.7] * 30)

    assert spike.first_step == at + 1 and spike.sigmas > 9
    assert spike.usual > math.exp(2.5 * spike.noise)


def test_a_jump_right_behind_the_first_row_that_stays_is_where_the_curve_begins():
    assert all(spike.rows < 3 for spike in spikes(1.468, 13.85, 13.99, *[14.2] * 40))
    (rising,) = spikes(6.5464, 32.2662, 27.2174, 51.4736, 89.2028, 104.8386, 135.9838, 439.2282)
    assert rising.rows == 7 and rising.open


def test_zeros_must_be_five_times_as_many_as_ever_before():
    """Some losses are printed as 0.0000 now and then."""
    losses = [0.5, *[0.0] * 12, *[0.4] * 40, *[0.0] * 60, *[0.4] * 40]
    first, *more = excursions_of(curve(*losses), "collapsed")
    assert first.rows == 12 and more == []

    assert excursions_of(curve(*losses, *[0.0] * 310), "collapsed")[-1].rows == 10


def test_no_ratio_says_anything_of_a_loss_that_is_zero_again_and_again():
    assert spikes(*[0.001] * 60, 0.0, *[0.001] * 60, 0.0, 0.0, *[0.5] * 30) == ()
    assert spikes(0.0, 0.0, 0.0005, 0.0003, 1.7809, 1.8603, 1.8, 1.9) == ()


def test_a_small_rise_may_be_much_of_what_was_learned():
    falling = [6.9 - 0.01 * i for i in range(200)]
    rising = [*[4.9] * 100, *[4.9 + 0.001 * i for i in range(600)]]

    (regression,) = excursions_of(curve(*falling, *rising), "regressed")

    assert regression.open and not excursions_of(curve(*falling, *[4.9] * 600), "regressed")
    (ended_state,) = excursions_of(curve(*falling, *rising, *[falling[-1]] * 400), "regressed")
    assert not ended_state.open
    assert not excursions_of(curve(*[4.9] * 200, *rising), "regressed")  # had learned nothing


@pytest.mark.parametrize(
    ("newer", "count"),
    [
        ([2.6, 2.5, 2.5], 1),  # three rows at twice as much
        ([2.6, 2.5, 1.8], 1),  # or at a size times duration of fifteen times their range
        ([2.6, 1.4, 1.4], 0),
        ([2.6, 1.0, 2.5, 2.5], 1),  # one of them is not above
        ([2.6, 1.0, 1.0, 2.5, 2.5], 0),  # two are not
        ([1.8, 1.7, 1.7, 1.8, 1.7], 1),  # five rows at one and a half
        ([1.8, 1.7, 1.7], 0),
        ([1.8, 1.3, 1.3, 1.4, 1.3], 0),
    ],
)
def test_a_few_rows_far_above_eight_calm_ones_are_another_level(newer, count):
    """However far apart they are, and however short the curve is."""
    calm = [1.1, 1.05, 1.08, 1.02, 1.07, 1.0, 1.03, 1.01]

    assert len(excursions_of(curve(3.0, *calm, *newer, gap=500), "shifted")) == count
    assert not excursions_of(curve(3.0, *calm[:6], *newer, gap=500), "shifted")


def test_rows_that_waver_by_a_factor_of_two_are_no_calm_ones():
    assert not excursions_of(curve(3.0, *[1.0, 2.1] * 4, *[4.5] * 4, gap=500), "shifted")


def test_zeros_within_rounding_of_small_losses_are_no_collapse():
    small = [0.01, 0.02, 0.03, 0.01, 0.02] * 10

    assert not excursions_of(curve(*small, *[0.0] * 40), "collapsed")
    assert excursions_of(curve(*[0.31, 0.32, 0.29, 0.3] * 10, *[0.0] * 40), "collapsed")


def test_the_largest_loss_of_a_clipped_softmax_is_one_excursion():
    """-ln of the smallest float32, with six digits as Caffe prints it."""
    losses = [*CALM, 87.3365, 87.3365, 87.336544, 2.0, 2.0]
    (saturated_excursion,) = excursions_of(curve(*losses), "saturated")

    assert (saturated_excursion.rows, saturated_excursion.open, saturated_excursion.first_step) == (
        3,
        False,
        61,
    )
    assert not excursions_of(curve(*CALM, 87.33, 87.34), "saturated")


def test_a_saturated_loss_in_a_batch_is_seen_as_row_by_row():
    rows = curve(*[87.3 + 0.001 * (row % 7) for row in range(200)], *[87.3365] * 3, 87.3)
    assert [each.rows for each in excursions_of(rows, "saturated")] == [3]


@pytest.mark.parametrize(
    ("losses", "rows"),
    [
        ((22.763932, 23.025851, 23.025851, 23.025851), 1),  # -ln(1e-10), in a public thread
        ((22.763932, 23.025851, 23.025851), 0),
        ((9.1, 15.942385, 15.942385, 15.942385, 15.942385, 9.0), 2),  # -ln(2^-23), of Keras
        ((9.1, 16.1181, 16.1181, 16.1181), 0),  # of 1e-7, which may be ln of as many classes
        ((9.1, 16.12, 16.12, 16.12, 16.12), 0),  # too few decimals to tell
        ((11.7, 11.512925, 11.512925, 11.512925, 11.512925), 0),  # ln 100,000 as well
        ((13.9, 13.815511, 13.815511, 13.815511, 13.815511), 0),  # and ln 1,000,000
        ((9.1, 18.420681, 18.420681, 18.420681), 1),  # -ln(1e-8)
    ],
)
def test_the_largest_loss_of_a_clipped_probability_counts_in_three_equal_rows(losses, rows):
    assert sum(each.rows for each in excursions_of(curve(*losses), "saturated")) == rows
