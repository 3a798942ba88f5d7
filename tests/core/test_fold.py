"""Trends as folds: every row is judged once, in order, however rarely somebody looks."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import NOON, a_row
from herorun.core import fold
from herorun.core.fold import MetricsState, Names, fold_rows, rules_digest, summarise
from herorun.core.ports import Row

NAMES = Names(watched=("grad_norm",))
NAN = math.nan


def curve(*losses, first=0):
    return [a_row(first + index, loss) for index, loss in enumerate(losses)]


def folded(rows, state=None, **told):
    return fold_rows(state or MetricsState(), rows, NAMES, **told)


def spikes(*losses):
    return summarise(folded(curve(*losses))).spikes


CALM = [2.0] * 30


# --- steps and attempts ------------------------------------------------------------------------------


def test_before_the_first_row_there_is_no_evidence():
    assert summarise(MetricsState()) is None


@pytest.mark.parametrize(("first_step", "completed"), [(0, 10), (1, 9)])
def test_steps_are_completed_updates(first_step, completed):
    state = fold_rows(MetricsState(), [a_row(9, 2.0)], Names(first_step=first_step))

    assert summarise(state).step == completed


def test_the_newest_row_is_kept_with_its_time():
    metrics = summarise(folded([a_row(0, 2.0), a_row(1, 1.9, lr=0.1)]))

    assert metrics.last == {"train/loss": 1.9, "lr": 0.1}
    assert metrics.advanced_at == a_row(1).at


def test_a_row_without_a_time_gets_the_files():
    assert folded([Row(3, {})], seen_at=NOON).advanced_at == NOON


def test_a_lower_step_is_a_new_attempt():
    metrics = summarise(folded([*curve(*CALM), *curve(2.0, 2.0, first=20)]))

    assert (metrics.attempts, metrics.first_step, metrics.step, metrics.high_water) == (2, 21, 22, 30)


def test_catching_up_does_not_move_the_trend():
    before = folded(curve(*CALM))
    after = folded(curve(*[1.0] * 10, first=20), before)

    assert after.trend == before.trend
    assert folded(curve(1.9, first=30), after).trend.rows == before.trend.rows + 1


def test_a_step_that_is_logged_twice_is_judged_once():
    once, twice = folded(curve(*CALM)), folded([row for row in curve(*CALM) for _ in "ab"])

    assert twice.rows == 60
    assert replace(twice, rows=30) == once


def test_a_step_in_several_rows_is_judged_whole():
    split = [row for i in range(30) for row in (a_row(i, grad_norm=1.0), a_row(i, 2.0))]
    whole = [a_row(i, 2.0, grad_norm=1.0) for i in range(30)]

    assert folded(split).trend == folded(whole).trend
    assert folded(split).last == folded(whole).last
    broken = summarise(folded([*split, a_row(30, grad_norm=1.0), a_row(30, NAN)]))
    assert [e.metric for e in broken.non_finite] == ["train/loss"]


# --- spikes ------------------------------------------------------------------------------------------


def test_twelve_steps_are_one_open_spike():
    (spike,) = spikes(*CALM, *[3.2] * 12)

    assert (spike.metric, spike.first_step, spike.last_step, spike.rows, spike.open) == (
        "loss",
        31,
        42,
        12,
        True,
    )
    assert spike.expected == pytest.approx(2.0) and spike.peak == pytest.approx(1.6)


def test_a_blip_of_two_rows_is_a_spike_of_two_rows():
    (spike,) = spikes(*CALM, 9.0, 9.0, 2.0, 2.0)

    assert (spike.rows, spike.open) == (2, False)


def test_a_closed_spike_is_reported_once():
    ended = folded(curve(*CALM, *[3.2] * 12, 2.0, 2.0))

    assert [e.open for e in summarise(ended).spikes] == [False]
    assert summarise(folded([], ended)).spikes == ()
    assert summarise(folded([], ended, keep_closed=True)).spikes == summarise(ended).spikes


@pytest.mark.parametrize(("ratio", "count"), [(1.2, 0), (1.49, 0), (1.51, 1), (1.8, 1)])
def test_a_spike_begins_half_above_the_trend(ratio, count):
    assert len(spikes(*CALM, 2.0 * ratio)) == count


@pytest.mark.parametrize(("rows", "count"), [(19, 0), (20, 1)])
def test_a_trend_is_trusted_after_20_rows(rows, count):
    assert len(spikes(*[2.0] * rows, 9.0)) == count


def test_one_row_back_in_bounds_does_not_end_a_spike():
    (one,) = spikes(*CALM, *[3.2] * 5, 2.0, *[3.2] * 5)
    assert (one.rows, one.last_step - one.first_step + 1) == (10, 11)

    assert [e.rows for e in spikes(*CALM, *[3.2] * 5, 2.0, 2.0, *[3.2] * 5)] == [5, 5]


def test_a_spike_does_not_raise_its_own_expectation():
    (spike,) = spikes(*CALM, *[3.2] * 400)

    assert spike.expected == pytest.approx(2.0)
    assert folded(curve(*CALM, *[3.2] * 400)).trend == folded(curve(*CALM)).trend


@pytest.mark.parametrize(("rows", "moved"), [(500, False), (501, True)])
def test_a_new_level_is_accepted_in_the_end(rows, moved):
    calm = folded(curve(*CALM))

    assert (folded(curve(*[3.2] * rows, first=30), calm).trend != calm.trend) is moved
    assert summarise(folded(curve(*[3.2] * 3000, first=30), calm)).spikes[-1].rows < 3000


def test_the_trend_follows_a_falling_loss():
    falling = [4.0 * (1 + step) ** -0.1 for step in range(2000)]

    assert spikes(*falling) == ()
    assert math.exp(folded(curve(*falling)).trend.level) == pytest.approx(falling[-1], rel=0.02)


def test_the_trend_is_the_one_that_was_measured():
    """A golden value: any change of a constant of the trend moves it."""
    wavy = [2.5 - 0.0005 * i + 0.05 * math.sin(i) for i in range(300)]
    trend = folded(curve(*wavy)).trend

    assert (trend.level, trend.scale) == (
        pytest.approx(0.869388, abs=1e-6),
        pytest.approx(0.020412, abs=1e-6),
    )


def test_noise_has_a_floor():
    assert folded(curve(*[2.0] * 500)).trend.scale == fold.FLOOR == 0.003


def test_a_restart_ends_what_was_open_and_still_tells_it():
    metrics = summarise(folded([*curve(*CALM, *[3.2] * 12), *curve(2.0, 2.0, first=25)]))

    assert [(e.rows, e.open) for e in metrics.spikes] == [(12, False)]


@pytest.mark.parametrize("loss", [0.0, -3.0])
def test_a_loss_without_a_logarithm_is_not_judged(loss):
    assert spikes(*CALM, *[loss] * 12) == ()


def test_the_largest_numbers_are_survived():
    (spike,) = spikes(*[1e-300] * 30, 1e300)

    assert math.isfinite(spike.peak) and spike.peak > 1e300


# --- non-finite values -------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [NAN, math.inf, -math.inf])
def test_a_non_finite_loss_is_an_open_excursion(value):
    (broken,) = summarise(folded(curve(*CALM, value))).non_finite

    assert (broken.metric, broken.first_step, broken.rows, broken.open) == ("train/loss", 31, 1, True)


def test_it_closes_at_the_next_finite_value():
    (broken,) = summarise(folded(curve(*CALM, NAN, NAN, 2.0))).non_finite

    assert (broken.rows, broken.last_step, broken.open) == (2, 32, False)


def test_it_never_enters_the_trend():
    assert folded(curve(*CALM, NAN, math.inf)).trend == folded(curve(*CALM)).trend


def test_only_watched_metrics_are_judged():
    rows = [a_row(0, 2.0, grad_norm=NAN, eval_time=NAN)]

    assert [e.metric for e in summarise(folded(rows)).non_finite] == ["grad_norm"]


def test_many_blips_do_not_push_the_long_one_out():
    blips = [value for _ in range(20) for value in (NAN, 1.0)]
    norms = [1.0, *[NAN] * 12, 1.0, *blips]
    found = summarise(folded([a_row(i, 2.0, grad_norm=norm) for i, norm in enumerate(norms)])).non_finite

    assert len(found) == fold.KEPT == 8
    assert max(e.rows for e in found) == 12


def test_another_metrics_blips_do_not_push_a_loss_out():
    rows = [a_row(0, NAN, grad_norm=1.0)]
    rows += [a_row(i, 2.0, grad_norm=NAN if i % 2 else 1.0) for i in range(1, 40)]

    assert "train/loss" in {e.metric for e in summarise(folded(rows)).non_finite}


# --- how the rows are cut does not matter ------------------------------------------------------------

losses = st.one_of(
    st.floats(1.8, 2.2), st.floats(3.1, 9.0), st.just(NAN), st.just(math.inf), st.none(), st.just(0.0)
)
norms = st.one_of(st.floats(0.1, 2.0), st.just(NAN))


@st.composite
def runs(draw):
    """Rows of a run: calm first, then anything, with steps that repeat, skip and go back."""
    rows, step = curve(*[2.0] * draw(st.integers(15, 25))), 25
    moves = draw(st.lists(st.tuples(st.sampled_from((1, 1, 1, 1, 0, 3, -4)), losses, norms), max_size=25))
    for move, loss, norm in moves:
        step = max(step + move, 0)
        rows.append(a_row(step, loss, grad_norm=norm))
    return rows


def cut(rows, places):
    edges = [0, *sorted(place % (len(rows) + 1) for place in places), len(rows)]
    return [rows[a:b] for a, b in pairwise(edges)]


def bare(state):
    return repr(replace(state, spikes=(), ruptures=()))  # as text, where NaN equals itself


@settings(max_examples=150, deadline=None)
@given(runs(), st.lists(st.integers(0, 60), max_size=6))
def test_the_state_does_not_depend_on_how_the_rows_are_cut(rows, places):
    state, told = MetricsState(), []
    for part in cut(rows, places):
        state = folded(part, state)
        told += [*state.spikes, *state.ruptures]
    whole = folded(rows)

    assert bare(state) == bare(whole)
    if len(told) < fold.KEPT:
        assert sorted(map(repr, told)) == sorted(map(repr, (*whole.spikes, *whole.ruptures)))


@settings(max_examples=100, deadline=None)
@given(runs(), st.lists(st.integers(0, 60), max_size=6))
def test_kept_excursions_do_not_depend_on_it_either(rows, places):
    state = MetricsState()
    for part in cut(rows, places):
        state = folded(part, state, keep_closed=True)

    assert repr(state) == repr(folded(rows))


@settings(max_examples=100, deadline=None)
@given(runs())
def test_no_non_finite_row_is_ever_lost(rows):
    told = {excursion.metric for excursion in summarise(folded(rows)).non_finite}
    first_of_step: dict = {}
    for row in rows:
        for name, value in row.values.items():
            first_of_step.setdefault((name, row.step), value)

    assert {name for (name, _), value in first_of_step.items() if not math.isfinite(value)} <= told


def test_the_rules_have_a_digest_that_names_their_constants(monkeypatch):
    before = rules_digest()
    for name in ("HALF_LIFE", "SETTLE", "FLOOR", "FREEZE", "RATIO", "MISSES", "KEPT"):
        with monkeypatch.context() as changed:
            changed.setattr(fold, name, getattr(fold, name) + 1)
            assert rules_digest() != before
    assert rules_digest() == before


def test_a_row_from_the_future_is_no_younger_than_its_file():
    future = a_row(0, 2.5, NOON.replace(year=2099))

    assert fold_rows(MetricsState(), [future], Names(), NOON).advanced_at == NOON
