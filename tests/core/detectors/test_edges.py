"""Where each constant bites: a fifth more or less of any of them breaks one of these."""

import math
from datetime import timedelta

import pytest

from builders import NOON, a_row
from curves import CALM, curve, excursions_of, fold_curve, spikes, summarise, values
from herorun.core.detectors.baseline import RATE
from herorun.core.detectors.loss import LossState, judge_loss
from herorun.core.detectors.reorder import WAITING


def ramp(low, high, rows=600):
    return [low * (high / low) ** (i / rows) for i in range(rows)]


@pytest.mark.parametrize(("rows", "count"), [(29, 0), (30, 1)])
def test_a_trend_is_trusted_after_30_rows(rows, count):
    assert len(spikes(9.0, *[2.0] * (rows - 1), 5.0)) == count


@pytest.mark.parametrize(("loss", "count"), [(3.9, 0), (4.2, 1)])
def test_a_young_rise_is_four_times_the_moves_from_row_to_row(loss, count):
    assert len(spikes(2.0, 2.3, 2.0, 2.3, loss)) == count


@pytest.mark.parametrize(("before", "rows"), [(10, 21), (60, 501)])
def test_the_longest_spike(before, rows):
    assert max(e.rows for e in spikes(*[2.0] * before, *[3.2] * 700)) == rows


def test_the_first_two_rows_of_a_spike_still_move_the_trend():
    learned_states = [
        fold_curve(curve(*CALM, *[3.2] * n, *[3.2] * WAITING)).loss.trend.rows for n in (1, 2, 3, 9)
    ]

    assert learned_states == [61, 62, 62, 62] and WAITING == 8


@pytest.mark.parametrize(("height", "count"), [(1.4, 0), (1.75, 1)])
def test_a_divergence_is_half_above_the_lowest(height, count):
    rows = curve(*[4.0] * 60, *[2.0] * 600, *ramp(2.0, 2.0 * height), *[2.0 * height] * 600)

    assert len([e for e in excursions_of(rows, "diverged") if e.rows >= 50]) == count


@pytest.mark.parametrize(("fall", "count"), [(1.2, 0), (1.32, 1)])
def test_only_what_had_learned_diverges(fall, count):
    rows = curve(*[2.0 * fall] * 60, *[2.0] * 900, *ramp(2.0, 4.0), *[4.0] * 300)

    assert len([e for e in excursions_of(rows, "diverged") if e.rows >= 50]) == count


@pytest.mark.parametrize(("ratio", "count"), [(1.09, 1), (1.11, 0)])
def test_an_opening_is_known_again_within_a_tenth(ratio, count):
    opening = [32.0, 5.9, 5.8, 5.8]

    assert (
        len(
            excursions_of(curve(*opening, *[2.0] * 100, *(ratio * x for x in opening)), "untrained")
        )
        == count
    )


@pytest.mark.parametrize(("level", "count"), [(5.2, 0), (4.8, 1)])
def test_half_must_have_been_learned_before_it_is_forgotten(level, count):
    opening = [10.0, 9.5, 9.2, 9.0]

    assert len(excursions_of(curve(*opening, *[level] * 300, *opening), "untrained")) == count


@pytest.mark.parametrize(("rows", "count"), [(3, 0), (4, 1)])
def test_an_opening_is_four_rows(rows, count):
    opening = [10.0, 9.5, 9.2, 9.0]

    assert len(excursions_of(curve(*opening, *[2.0] * 100, *opening[:rows]), "untrained")) == count


@pytest.mark.parametrize(("value", "count"), [(2.9, 0), (3.1, 1), (0.35, 0), (0.32, 1)])
def test_a_router_metric_goes_astray_at_three_times_or_a_third(value, count):
    assert len(excursions_of(values("router/entropy", *[1.0] * 60, value), "wander")) == count


@pytest.mark.parametrize(("value", "count"), [(4.0, 0), (5.0, 1)])
def test_a_router_metric_that_wavers_may_go_further(value, count):
    wavering = [1.0 * math.exp(0.15 * (-1) ** i) for i in range(200)]

    assert len(excursions_of(values("router/entropy", *wavering, value), "wander")) == count


KINDS = [
    ("grad_norm", "explosion", 6.0),
    ("step_time_s", "slow", 1.0),
    ("router/entropy", "wander", 4.0),
]


@pytest.mark.parametrize(("metric", "kind", "high"), KINDS)
def test_what_lasts_five_hundred_rows_is_the_new_level(metric, kind, high):
    rows = values(metric, *[0.5] * 70, *[high] * 700)

    assert max(e.rows for e in excursions_of(rows, kind)) == 501


@pytest.mark.parametrize(("metric", "kind", "high"), KINDS)
def test_the_first_two_rows_of_any_excursion_still_move_its_trend(metric, kind, high):
    def learned_states(count):
        state = fold_curve(values(metric, *[0.5] * 70, *[high] * count, *[high] * WAITING))
        tables = {"explosion": state.norms, "slow": state.speeds, "wander": state.wanders}
        return tables[kind][metric].trend.rows

    assert [learned_states(count) - learned_states(0) for count in (1, 2, 3, 9)] == [1, 2, 2, 2]


def test_the_first_five_rows_of_an_attempt_are_not_its_pace():
    assert (
        fold_curve(values("step_time_s", *[10.0] * (25 + WAITING))).speeds["step_time_s"].trend.rows
        == 20
    )


@pytest.mark.parametrize(("fast", "count"), [(3, 0), (4, 1)])
def test_the_wall_clock_is_judged_by_half_hours_and_after_four_of_them(fast, count):
    quick = [a_row(i, 2.0, NOON + i * timedelta(seconds=18)) for i in range(100 * fast + 1)]
    slow = [
        a_row(quick[-1].step + i, 2.0, quick[-1].at + i * timedelta(seconds=36))
        for i in range(1, 51)
    ]

    assert fold_curve([*quick, *slow, *curve(2.0, first=9000)]).wall.bins >= fast
    assert len(excursions_of([*quick, *slow], "wall")) == count


@pytest.mark.parametrize(("value", "moves"), [(6.0, 3), (2.2, None)])
def test_one_value_moves_the_trend_by_three_times_the_noise_at_most(value, moves):
    state = LossState()
    for step in range(200):
        judge_loss(
            state,
            step,
            2.0 * math.exp(0.05 * (-1) ** step),
            fresh=True,
            is_declared=False,
            boundary=False,
        )
    level, scale = state.trend.level, state.trend.scale
    judge_loss(state, 200, value, fresh=True, is_declared=False, boundary=False)

    away = moves * scale if moves else math.log(value) - level
    assert state.trend.level - level == pytest.approx(RATE * away)


def test_one_value_moves_the_smoothed_level_by_four_times_the_noise_at_most():
    state = LossState()
    for step in range(200):
        judge_loss(
            state,
            step,
            2.0 * math.exp(0.05 * (-1) ** step),
            fresh=True,
            is_declared=False,
            boundary=False,
        )
    smooth = state.smooth
    judge_loss(state, 200, 6.0, fresh=True, is_declared=False, boundary=False)

    assert state.smooth - smooth == pytest.approx(RATE * 4 * state.trend.scale)


@pytest.mark.parametrize(("calm", "expectation"), [(30, 0.01), (38, 0.001)])
def test_the_median_of_a_resume_is_of_its_first_65_rows(calm, expectation):
    losses = [2.0 + (0.001 if i < calm else 0.01) for i in range(200)]
    resume = summarise(fold_curve([*curve(*[2.0] * 300), *curve(*losses, first=100)])).resume

    assert resume.median == pytest.approx(expectation)


def test_a_resume_is_compared_with_the_last_2048_rows():
    rows = [*curve(*[2.0] * 2600), *curve(*[2.0] * 2600, first=0)]

    assert summarise(fold_curve(rows)).resume.compared == 2048


@pytest.mark.parametrize(("share", "count"), [(0.73, 0), (0.67, 1)])
def test_the_wall_clock_allows_for_three_tenths(share, count):
    fast = [a_row(i, 2.0, NOON + i * timedelta(seconds=18)) for i in range(1500)]
    slow = [
        a_row(1500 + i, 2.0, fast[-1].at + i * timedelta(seconds=18 / share)) for i in range(1, 400)
    ]

    assert len([e for e in excursions_of([*fast, *slow], "wall") if e.rows >= 3]) == count


@pytest.mark.parametrize(("back", "attempts"), [(7, 1), (9, 2)])
def test_eight_rows_may_come_late(back, attempts):
    rows = [row for row in curve(*CALM) if row.step != 59 - back]
    straggler = curve(2.0, first=59 - back)

    assert summarise(fold_curve([*rows, *straggler])).attempts == attempts
