"""Whether a run learns at all, by its first rows."""

import math
from random import Random

import pytest

from curves import curve, excursions_of, fold_curve, summarise
from herorun.core.backtest.curve import CurveBacktest, judging
from herorun.core.check import Gate
from herorun.discover import checks

CHECKS = judging(checks(Gate.HEALTH))
UNIFORM = math.log(1000)


def fired_alerts(rows):
    return [(a.check, a.severity, a.row) for a in CurveBacktest(checks=CHECKS).run(rows)]


def noise(count, level=UNIFORM, seed=1, width=0.002):
    lots = Random(seed)
    return [level * math.exp(lots.gauss(0, width)) for _ in range(count)]


@pytest.mark.parametrize("seed", range(4))
def test_a_loss_at_the_logarithm_of_its_classes_is_warned_of_and_then_told(seed):
    rows = curve(7.4, 7.2, *noise(200, seed=seed), gap=20)
    (warning, alert) = fired_alerts(rows)

    assert warning[:2] == ("frozen-loss", "warn") and 30 <= warning[2] <= 70
    assert alert[:2] == ("flat-start", "critical") and 100 <= alert[2] <= 150


def test_leaps_do_not_hide_it():
    """A step that is too large throws the loss up, again and again."""
    lots = Random(2)
    losses = [loss * (3 if lots.random() < 0.2 else 1) for loss in noise(300)]

    assert "flat-start" in {check for check, _, _ in fired_alerts(curve(7.4, 7.2, *losses, gap=20))}


@pytest.mark.parametrize(
    "losses",
    [
        [7.4, 7.2, *(UNIFORM * 0.9995**i for i in range(200))],  # it learns, slowly
        [7.4, 7.2, *noise(60), *(UNIFORM * 0.99**i for i in range(200))],  # after a warm-up
        noise(202),  # it stands where it began: trained weights, or a warm-up
        [7.4, 7.2, *noise(200, width=0.03)],  # batches differ: something was learned
        [32.0, 9.0, *noise(200)],  # it fell far at once
    ],
)
def test_what_learned_or_shows_no_untrained_weights_raises_no_alert(losses):
    assert [each for each in fired_alerts(curve(*losses, gap=20)) if each[1] == "critical"] == []


def test_it_needs_rows_and_steps_and_the_beginning():
    still = [7.4, 7.2, *noise(200)]

    assert summarise(fold_curve(curve(*still[:25], gap=100))).of("flat") == ()
    assert summarise(fold_curve(curve(*still[:200], gap=1))).of("flat") == ()
    assert summarise(fold_curve(curve(*still, first=90_000, gap=20))).of("flat") == ()


def test_what_learns_after_all_is_over():
    rows = curve(7.4, 7.2, *noise(120), *(UNIFORM * 0.99**i for i in range(60)), gap=20)
    (flat,) = summarise(fold_curve(rows)).of("flat")

    assert not flat.open and flat.expected == pytest.approx(UNIFORM, rel=0.001)


def test_its_state_is_small_however_long_it_takes():
    state = fold_curve(curve(7.4, 7.2, *noise(5000, width=0.03), gap=20)).loss.first_rows

    assert len(state.values) < 60 and state.every > 60


CHANCE = math.log(1000)


def chance(*losses, gap=20):
    return excursions_of(curve(*losses, gap=gap), "chance")


def test_a_loss_that_leaps_and_comes_back_to_chance_is_found():
    leaping = [7.3, 19.0, CHANCE, *([CHANCE, 12.0, CHANCE + 0.01] * 14)]

    (flat,) = chance(*leaping)

    assert flat.open and flat.expected == pytest.approx(CHANCE)


@pytest.mark.parametrize(
    "losses",
    [
        [7.3, 6.95, *[CHANCE] * 30, *[0.99 * CHANCE] * 20],  # learns in the end
        [CHANCE] * 60,  # begins there: weights whose last layer is zero
        [7.3 - 0.01 * i for i in range(60)],  # passes by
        [7.7, *[7.6] * 60],  # never comes down to it
        [9.5, *[CHANCE] * 60],  # began elsewhere
    ],
)
def test_what_is_not_at_chance_from_its_first_rows_on_is_left_alone(losses):
    assert not chance(*losses)


OSCILLATING_LOSSES = [7.6, 7.5, 7.8, 7.4] * 20


@pytest.mark.parametrize(
    ("losses", "rows"),
    [
        ([7.33, *OSCILLATING_LOSSES], 80 - 39 + 1),
        ([7.33, *OSCILLATING_LOSSES[:38]], 0),  # 39 rows
        ([7.7, *OSCILLATING_LOSSES], 0),  # three quarters of them lie below the first
        ([7.33, *OSCILLATING_LOSSES[:20], 6.93, *OSCILLATING_LOSSES], 0),  # it came down to chance
        ([5.2, *(x * 5.2 / 7.33 for x in OSCILLATING_LOSSES)], 81 - 39),  # of a hundred classes
        (
            [2.45, *(x * 2.45 / 7.33 for x in OSCILLATING_LOSSES)],
            0,
        ),  # of ten: a language model passes it
    ],
)
def test_a_loss_that_stays_above_chance_and_its_own_first_row_is_no_learning(losses, rows):
    assert sum(each.rows for each in excursions_of(curve(*losses, gap=25), "above")) == rows


def test_it_takes_eight_hundred_steps():
    assert not excursions_of(curve(7.33, *OSCILLATING_LOSSES[:60], gap=13), "above")
    assert fired_alerts(curve(7.33, *OSCILLATING_LOSSES[:60], gap=25))[0][:2] == (
        "flat-start",
        "critical",
    )


def test_rows_that_lie_above_chance_take_thirty():
    """A run that learns comes below it before it leaves it."""
    above = [7.3, 6.9, *[CHANCE + 0.01, CHANCE - 0.004, CHANCE + 0.02, CHANCE + 0.005] * 7]
    below = [7.3, 6.9, *[CHANCE + 0.01, CHANCE - 0.004, CHANCE - 0.002, CHANCE - 0.003] * 7]

    assert chance(*above) and not chance(*below)
    assert not chance(*above[:29]) and not chance(*above, gap=10)


def test_chance_takes_forty_rows_and_eight_hundred_steps():
    assert not chance(7.3, *[CHANCE] * 38)
    assert not chance(7.3, *[CHANCE] * 60, gap=5)


def test_a_loss_with_too_few_decimals_is_not_known_to_stay_constant():
    rounded_losses = [0.18, 0.17, *[round(loss, 2) for loss in noise(300, level=0.16, width=0.03)]]

    assert summarise(fold_curve(curve(*rounded_losses, gap=20))).of("flat") == ()
    assert not chance(7.4, 6.95, *[6.91] * 36)  # ln 1000, rounded upwards


def test_one_number_in_eight_rows_and_five_hundred_steps_is_nothing_learned():
    """Only the rounding of single precision moves it; row 0 is at step 1."""
    losses = [25.600017547607422, 25.600015640258789, 25.600013732910156] * 4
    rows = curve(*losses, first=12_400, gap=100)

    assert fired_alerts(rows) == [("flat-start", "critical", 7)]
    assert fired_alerts(curve(*losses[:7], first=12_400, gap=100)) == []


@pytest.mark.parametrize(
    ("classes", "gap", "row"), [(1000, 100, 7), (1000, 40, None), (1000.5, 40, 7), (1000.5, 1, 7)]
)
def test_the_logarithm_of_a_whole_number_takes_the_steps(classes, gap, row):
    """Weights whose last layer begins with zeros have it as loss until a warm-up moves them."""
    alerts = fired_alerts(curve(*[math.log(classes)] * 12, gap=gap))

    assert alerts == ([("flat-start", "critical", row)] if row else [])


@pytest.mark.parametrize(
    "losses",
    [
        [0.0336] * 40,  # too few digits to know
        [25.6 + 1e-4 * (row % 3) for row in range(40)],  # small moves, and moves still
        # the last layer begins with zeros, and the warm-up has hardly begun
        [*[math.log(1000)] * 60, *(math.log(1000) * 0.999**row for row in range(200))],
    ],
    ids=["four digits", "it moves", "a last layer of zeros"],
)
def test_what_may_move_is_not_one_number(losses):
    gap = 1 if len(losses) > 100 else 100
    assert not excursions_of(curve(*losses, gap=gap), "constant")


def test_a_number_that_moves_at_last_is_over():
    rows = curve(*[25.600017547607422] * 12, 24.0, first=12_400, gap=100)
    (constant,) = excursions_of(rows, "constant")
    assert (constant.open, constant.last_step) == (False, 12_400 + 1100 + 1)


def test_an_excerpt_from_late_in_a_training_that_stands_at_chance():
    rows = curve(*noise(9, width=0.0005), first=111_383)

    assert fired_alerts(rows) == [("flat-start", "critical", 7)]
    assert excursions_of(rows, "chance")[0].expected == UNIFORM


@pytest.mark.parametrize(
    "rows",
    [
        curve(*noise(9, width=0.0005), first=400),  # it may be about to learn
        curve(*noise(9, width=0.01), first=111_383),  # the noise of trained weights
        curve(*noise(9, math.log(10), width=0.0005), first=111_383),  # a good language model's
        curve(*[6.908] * 9, first=111_383),  # too few digits
        curve(*noise(7, width=0.0005), first=111_383),
    ],
    ids=["early", "noisy", "ten classes", "no moves", "seven rows"],
)
def test_other_excerpts_show_no_chance(rows):
    assert not excursions_of(rows, "chance", "constant")


def test_an_excerpt_that_leaves_chance_is_over():
    rows = curve(*noise(12, width=0.0005), 6.7, 6.6, first=111_383)
    assert [each.open for each in excursions_of(rows, "chance")] == [False]


EPOCH = [2.3992, 2.6361, 2.6707, 2.4452, 2.5466, 2.5186]


def test_a_second_pass_with_the_losses_of_the_first_has_learned_nothing():
    assert fired_alerts(curve(*EPOCH, *EPOCH, gap=3)) == [("flat-start", "critical", 11)]
    assert fired_alerts(curve(*EPOCH, *EPOCH[:-1], gap=3)) == []


@pytest.mark.parametrize(
    "losses",
    [
        [*EPOCH, *EPOCH[:5], 2.5187, *EPOCH],  # one of them differs
        EPOCH[:3] * 4,  # a pass of three rows
        [0.43, 0.44, 0.42, 0.45] * 4,  # too few values to differ by
        [*(2.4 + 0.0137 * row for row in range(41)), *EPOCH] * 2,  # a pass of too many rows
    ],
)
def test_rows_that_may_be_alike_by_chance_are_no_second_pass(losses):
    assert not excursions_of(curve(*losses), "repeats")


def test_a_third_pass_that_differs_is_the_end():
    (repeats,) = excursions_of(curve(*EPOCH, *EPOCH, *EPOCH[:3], 2.3, 2.2), "repeats")
    assert (repeats.open, repeats.first_step, repeats.last_step) == (False, 12, 15)


@pytest.mark.parametrize("reached_loss", [6, 7, 20])
def test_a_restart_from_scratch_with_the_same_seed_is_no_second_pass(reached_loss):
    """The first attempt crashed before its first checkpoint."""
    losses = [*EPOCH, *(2.5 - 0.0137 * row for row in range(30))]

    assert fired_alerts([*curve(*losses[:reached_loss]), *curve(*losses)]) == []


def test_a_second_pass_of_a_later_attempt_has_learned_nothing():
    rows = [*curve(*EPOCH[:2]), *curve(*EPOCH, *EPOCH)]
    assert [check for check, _, _ in fired_alerts(rows)] == ["flat-start"]
