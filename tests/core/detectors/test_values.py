"""Gradient norms, throughput, named metrics, what is missing, and what is not finite."""

import math
from dataclasses import replace
from datetime import timedelta

import pytest

from builders import NOON, a_row
from curves import CALM, NAMES, NAN, curve, excursions_of, fold_curve, summarise, values
from herorun.core.detectors.excursion import MAX_CLOSED
from herorun.core.detectors.names import Names
from herorun.core.ports import Row

# --- the gradient norm ----------------------------------------------------------------------------


@pytest.mark.parametrize(("then", "count"), [(0.55, 0), (0.9, 0), (5.5, 1)])
def test_a_norm_that_is_back_from_next_to_nothing_is_no_explosion(then, count):
    away = values("grad_norm", *[0.5] * 60, *[1e-9] * 50, *[then] * 5)

    assert len(excursions_of(away, "explosion")) == count


def test_a_norm_of_ten_times_the_trend_is_an_explosion():
    (boom,) = excursions_of(values("grad_norm", *[0.5] * 60, 5.5, 6.0, 7.0), "explosion")

    assert (boom.metric, boom.rows, boom.first_step) == ("grad_norm", 3, 61)
    assert excursions_of(values("grad_norm", *[0.5] * 60, 4.5), "explosion") == ()


def test_a_norm_that_grows_over_thousands_of_rows_creeps():
    norms = [0.2] * 3000 + [0.2 * 1.002**i for i in range(1200)]
    (creep,) = excursions_of(values("grad_norm", *norms), "creep")

    assert creep.open and creep.peak > 3
    assert excursions_of(values("grad_norm", *[0.2] * 4000), "creep") == ()


def test_a_norm_of_zero_is_counted_once_there_was_one():
    (none,) = excursions_of(values("grad_norm", *[0.5] * 30, *[0.0] * 12), "vanished")

    assert (none.metric, none.rows, none.first_step, none.open) == ("grad_norm", 12, 31, True)
    assert excursions_of(values("grad_norm", *[0.5] * 29, *[0.0] * 12), "vanished") == ()
    assert excursions_of(values("grad_norm", *[0.0] * 50), "vanished") == ()  # it is not computed


def test_a_norm_above_zero_ends_it():
    stretches = excursions_of(values("grad_norm", *[0.5] * 30, *[0.0, 0.0, 0.5] * 3), "vanished")

    assert [(e.rows, e.open) for e in stretches] == [(2, False)] * 3


# --- the learning rate ----------------------------------------------------------------------------


def test_a_learning_rate_of_zero_is_spent_once_it_was_above():
    (excursion,) = excursions_of(values("lr", 0.0, 1e-4, 3e-4, *[0.0] * 12), "spent")

    assert (excursion.metric, excursion.rows, excursion.first_step, excursion.open) == (
        "lr",
        12,
        4,
        True,
    )
    assert excursions_of(values("lr", *[0.0] * 50), "spent") == ()


def test_a_learning_rate_that_comes_back_was_not_spent_for_good():
    (excursion,) = excursions_of(values("lr", 1e-4, 0.0, 0.0, 1e-4), "spent")

    assert excursion.rows == 2 and not excursion.open


# --- throughput -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("seconds", "count"), [(12.0, 0), (13.2, 0), (13.5, 1), (20.0, 1)])
def test_a_step_that_takes_a_third_longer_is_slow(seconds, count):
    assert len(excursions_of(values("step_time_s", *[10.0] * 60, *[seconds] * 6), "slow")) == count


def test_a_rate_is_the_same_thing_upside_down():
    (slow,) = excursions_of(values("tokens_per_s", *[1000.0] * 60, *[700.0] * 6), "slow")
    assert slow.inverse and not slow.back

    assert slow.rows == 6 and slow.peak == pytest.approx(1 / 0.7)


@pytest.mark.parametrize(("times", "leaks"), [(19.0, 1), (21.0, 0)])
def test_what_is_reported_in_another_unit_is_held_against_itself(times, leaks):
    rows = values("tokens_per_s", *[1000.0] * 60, *[1000.0 / times] * 1200)

    assert len([e for e in excursions_of(rows, "slow") if e.rows > 500]) == 1
    assert len(excursions_of(rows, "leak")) == leaks


def test_one_row_back_in_bounds_ends_no_excursion_and_does_not_continue() -> None:
    (slow,) = excursions_of(values("step_time_s", *[1.0] * 60, *[2.0] * 6, 1.0), "slow")
    assert (slow.open, slow.back, slow.inverse) == (True, True, False)


def test_where_both_are_reported_the_time_is_judged():
    rows = [a_row(i, step_time_s=10.0, tokens_per_s=1000.0 if i < 60 else 500.0) for i in range(80)]

    assert excursions_of(rows, "slow") == ()


def test_the_first_rows_compile_and_are_not_judged():
    assert fold_curve(values("step_time_s", *[90.0] * 5, *[10.0] * 20)).speeds[
        "step_time_s"
    ].trend.level == pytest.approx(math.log(10.0))


def rows_with_gaps(*gaps, first=0, at=NOON):
    """Rows with these gaps between them, in seconds."""
    times = [at]
    for gap in gaps:
        times.append(times[-1] + timedelta(seconds=gap))
    return [a_row(first + n, 2.0, time) for n, time in enumerate(times)]


def test_the_pause_that_comes_again_is_reported_and_one_alone_is_an_outage():
    assert summarise(fold_curve(rows_with_gaps(20))).pause is None
    assert summarise(fold_curve(rows_with_gaps(20, 20))).pause == pytest.approx(20, rel=0.01)
    assert summarise(fold_curve(rows_with_gaps(*[20] * 9, 720, *[20] * 9))).pause == pytest.approx(
        20, rel=0.01
    )
    assert summarise(
        fold_curve(rows_with_gaps(*[20] * 9, 720, *[20] * 9, 700, 20))
    ).pause == pytest.approx(700, rel=0.02)


def test_a_pause_that_does_not_come_again_fades():
    assert summarise(fold_curve(rows_with_gaps(720, 720, *[20] * 3000))).pause < 720 / 4


def test_the_time_between_two_attempts_is_no_pause():
    rows = [*rows_with_gaps(20, 20, 20), *rows_with_gaps(20, 20, at=NOON + timedelta(hours=9))]

    assert summarise(fold_curve(rows)).pause == pytest.approx(20, rel=0.01)


def test_rows_without_times_tell_no_pause():
    rows = [replace(row, at=None) for row in curve(*CALM)]

    assert summarise(fold_curve(rows, seen_at=NOON)).pause is None


def test_a_slow_leak_is_seen_against_the_best():
    slower = [10.0] * 200 + [10.0 + 0.01 * i for i in range(200)]
    (leak,) = excursions_of(values("step_time_s", *slower), "leak")

    assert leak.open and leak.expected == pytest.approx(10.0, rel=0.01)
    assert excursions_of(values("step_time_s", *slower), "slow") == ()
    assert excursions_of(values("step_time_s", *[10.0] * 200, *[10.4] * 200), "leak") == ()


def test_the_wall_clock_sees_the_gaps_between_steps():
    fast = [a_row(i, 2.0, NOON + i * timedelta(seconds=18)) for i in range(1000)]
    slow = [a_row(1000 + i, 2.0, fast[-1].at + i * timedelta(seconds=30)) for i in range(1, 400)]
    (wall,) = excursions_of([*fast, *slow], "wall")

    assert wall.rows >= 3 and excursions_of(fast, "wall") == ()


def test_steady_step_times_hide_no_gaps_between_steps():
    fields = {"step_time_s": 18.0}
    fast = [a_row(i, 2.0, NOON + i * timedelta(seconds=18), **fields) for i in range(1000)]
    slow = [
        a_row(1000 + i, 2.0, fast[-1].at + i * timedelta(seconds=30), **fields)
        for i in range(1, 400)
    ]

    assert (
        len(excursions_of([*fast, *slow], "wall")) == 1
        and excursions_of([*fast, *slow], "slow") == ()
    )


def test_slow_steps_are_seen_where_no_row_has_a_time():
    rows = [Row(i, {"step_time_s": 18.0 if i < 1000 else 30.0}) for i in range(1400)]

    metrics = summarise(fold_curve(rows, seen_at=NOON), NAMES)
    assert len(metrics.of("slow")) == 1 and metrics.of("wall") == ()


# --- named metrics --------------------------------------------------------------------------------


def test_a_metric_out_of_its_band_is_an_excursion():
    names = replace(NAMES, bands=(("router/load", 0.1, 0.9),))
    (low,) = excursions_of(values("router/load", *[0.5] * 5, 0.09, 0.05), "band", names=names)

    assert (low.metric, low.rows, low.expected) == ("router/load", 2, 0.1)
    assert excursions_of(values("router/load", 0.1, 0.9), "band", names=names) == ()


def test_a_loss_scale_below_one_is_out_of_its_band_unless_another_is_stated():
    fallen_rows = values("train/loss_scale", 65536.0, 1.0, 0.5, 0.25)
    (low,) = excursions_of(fallen_rows, "band")
    assert (low.metric, low.rows, low.peak) == ("train/loss_scale", 2, 0.25)
    assert (
        excursions_of(
            fallen_rows, "band", names=replace(NAMES, bands=(("train/loss_scale", 0.01, 1e9),))
        )
        == ()
    )


@pytest.mark.parametrize("value", [3.2, 0.3])
def test_a_router_metric_without_a_band_is_held_against_its_past(value):
    (away,) = excursions_of(values("router/entropy", *[1.0] * 60, *[value] * 4), "wander")

    assert away.rows == 4
    assert excursions_of(values("router/entropy", *[1.0] * 60, 2.0, 0.5), "wander") == ()
    assert excursions_of(values("accuracy", *[1.0] * 60, *[value] * 4), "wander") == ()


def test_a_watched_metric_that_stops_is_counted():
    names = replace(NAMES, declared=("lr", "moe/load"))
    rows = [*curve(*CALM, lr=0.1), *curve(*CALM, first=60)]
    presence = {p.metric: p for p in summarise(fold_curve(rows, names=names), names).presence}

    assert (presence["loss"].rows, presence["lr"].rows, presence["lr"].seen) == (0, 60, True)
    assert (presence["moe/load"].rows, presence["moe/load"].seen) == (120, False)


# --- not finite -----------------------------------------------------------------------------------


def test_only_watched_metrics_must_be_finite():
    rows = [a_row(0, 2.0, grad_norm=NAN, eval_time=NAN)]

    assert [e.metric for e in summarise(fold_curve(rows)).non_finite] == ["grad_norm"]


def test_many_blips_do_not_push_the_long_one_out():
    blips = [value for _ in range(MAX_CLOSED + 12) for value in (NAN, 1.0)]
    rows = values("grad_norm", 1.0, *[NAN] * 12, 1.0, *blips)
    broken_excursions = summarise(fold_curve(rows)).non_finite

    assert len(broken_excursions) == MAX_CLOSED and max(e.rows for e in broken_excursions) == 12


def test_the_loss_of_a_skipped_step_harms_nothing_and_the_skips_are_counted():
    rows = [*curve(*CALM), *(a_row(60 + i, NAN, skipped=1.0) for i in range(11))]

    assert [(e.metric, e.rows) for e in summarise(fold_curve(rows)).non_finite] == [
        ("skipped steps", 11)
    ]
    assert [
        e.metric
        for e in summarise(fold_curve([*curve(*CALM), a_row(60, NAN, skipped=0.0)])).non_finite
    ] == ["train/loss"]


@pytest.mark.parametrize(
    "name",
    ["aux_loss", "moe/aux_loss", "train/load balancing loss", "train/router Z loss", "z-loss"],
)
def test_the_losses_next_to_the_loss_are_held_against_their_past(name):
    assert len(excursions_of(values(name, *[0.01] * 60, *[0.08] * 10), "wander")) == 1


@pytest.mark.parametrize("name", ["aux/accuracy", "loss_aux_weight", "balance"])
def test_other_names_are_not(name):
    assert excursions_of(values(name, *[0.01] * 60, *[0.08] * 10), "wander") == ()


OLMO_CORE_NORM = "optim/total grad norm"


@pytest.mark.parametrize(
    ("loss", "norm"),
    [
        ("lm loss", "grad-norm"),
        ("reduced_train_loss", "grad_norm"),
        ("loss_metrics/global_avg_loss", "grad_norm"),
        ("learning/loss", "learning/raw_grad_norm"),
        ("train/CE loss", OLMO_CORE_NORM),
        ("loss/train/total", "l2_norm/grad/global"),
    ],
)
def test_the_names_of_the_usual_trainers_are_known(loss, norm):
    rows = [
        Row(i, {loss: 2.0 if i < 60 else 8.0, norm: 0.5 if i < 60 else 9.0}, NOON)
        for i in range(70)
    ]
    metrics = summarise(fold_curve(rows, names=Names()), Names())

    assert len(metrics.spikes) == 1 and [e.metric for e in metrics.of("explosion")] == [norm]


@pytest.mark.parametrize("value", [1e155, -1e155, 1e300, -1.7e308])
def test_a_value_whose_square_is_no_float_ends_no_fold(value):
    every = (
        "loss eval/loss grad_norm lr step_time_s tokens_per_s skipped loss_scale moe/load "
        "max_attn_logit/layer-3 router/entropy"
    )
    names = Names(declared=("moe/load",))
    rows = [
        Row(i, dict.fromkeys(every.split(), value if 60 <= i < 70 else 2.0), NOON)
        for i in range(200)
    ]
    metrics = summarise(fold_curve(rows, names=names), names)

    assert (metrics.step, metrics.rows) == (200, 200)
