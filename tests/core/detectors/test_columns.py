"""Rows that are judged column by column leave the state that the rows one by one leave."""

import math
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from builders import a_row
from curves import NAMES, NAN, fold_curve
from herorun.core.canonical_json import canonical
from herorun.core.detectors import columns, dispatch
from herorun.core.detectors.state import MetricsState

CALM = 400  # rows
ODD = ("spike", "zero", "nan", "same", "negative", "gap", "back", "column", "rise", "slow", "burst")


def row_of(lots, step, level, **others):
    """All kinds of columns: a loss, a norm, a rate, times, a band, a router's and a precursor."""
    noise = math.exp(lots.gauss(0, 0.02))
    values = {
        "grad_norm": 0.5 * noise,
        "lr": 1e-3 / (1 + step),
        "tokens_per_s": 1e5 * noise,
        "router/z_loss": 0.1 * noise,
        "loss_scale": 1024.0,
        "skipped": 0.0,
        **others,
    }
    return a_row(step, level * noise, **values)


@st.composite
def long_runs(draw):
    """Calm stretches, with something odd between two of them."""
    lots, rows, step, level = Random(draw(st.integers(0, 10**6))), [], 0, 4.0
    others = {"step_time_s": 2.0} if draw(st.booleans()) else {}
    for odd in draw(st.lists(st.sampled_from(ODD), min_size=1, max_size=4)):
        for _ in range(draw(st.integers(60, CALM))):
            level = max(level * 0.997, 0.5)
            step += 1
            rows.append(row_of(lots, step, level, **others))
        step, level = one_odd(lots, rows, odd, step, level, others)
    return rows


def one_odd(lots, rows, odd, step, level, others):
    """Rows that are not calm, and where the calm ones go on."""
    if odd == "back":
        return step - 50, level
    if odd == "gap":
        return step + 900, level
    if odd == "rise":
        return step, level * 1.3
    changes = {
        "spike": {"train/loss": 40.0},
        "zero": {"train/loss": 0.0, "grad_norm": 0.0, "lr": 0.0},
        "nan": {"train/loss": NAN, "grad_norm": math.inf},
        "same": {"train/loss": level},
        "negative": {"train/loss": -1.0},
        "column": {"eval/loss": 3.0, "learning_rate": 0.1},
        "slow": {"tokens_per_s": 10.0, **({"step_time_s": 90.0} if others else {})},
        "burst": {"grad_norm": 90.0, "router/z_loss": 50.0, "loss_scale": 0.5, "skipped": 1.0},
    }[odd]
    for _ in range(lots.choice((1, 3, 40))):
        step += 1
        row = row_of(lots, step, level, **others)
        rows.append(replace(row, values={**row.values, **changes}))
    return step, level


def one_by_one(rows, **options):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "MIN_ROWS", len(rows) + 1)
        return fold_curve(rows, keep_closed=True, **options)


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(long_runs(), st.booleans(), st.sampled_from([0, 1]))
def test_the_state_is_the_same(rows, is_dated, first_step):
    if not is_dated:
        rows = [replace(row, at=None) for row in rows]
    options = {"names": replace(NAMES, first_step=first_step, declared=("lr",))}
    options["seen_at"] = rows[-1].at or None

    whole = canonical(fold_curve(rows, keep_closed=True, **options))
    assert whole == canonical(one_by_one(rows, **options))


def test_two_learning_rates_share_what_the_row_says_last():
    lots = Random(1)
    rows = [row_of(lots, step, 2.0, learning_rate=0.5) for step in range(CALM)]
    state = fold_curve(rows, keep_closed=True)
    assert state.rate_rises
    assert canonical(state) == canonical(one_by_one(rows))


def test_two_columns_of_skipped_steps_end_each_other():
    lots = Random(1)
    rows = [row_of(lots, step, 2.0, skipped_step=float(200 <= step < 206)) for step in range(CALM)]
    assert canonical(fold_curve(rows, keep_closed=True)) == canonical(one_by_one(rows))


def test_a_precursor_goes_by_the_learning_rate_of_its_own_row():
    lots, rows = Random(2), []
    for step in range(CALM):
        row = row_of(lots, step, 2.0, max_attn_logit=float(step + 1))
        rows.append(replace(row, values={**row.values, "lr": 1e-3 * min(step, CALM // 2)}))
    state = fold_curve(rows, keep_closed=True)
    assert state.growths["max_attn_logit"].scales
    assert canonical(state) == canonical(one_by_one(rows))


@pytest.mark.parametrize("place", range(100, 120))
def test_a_value_that_is_not_finite_ends_with_the_next_row(place):
    lots = Random(5)
    rows = [row_of(lots, step, 2.0) for step in range(CALM)]
    rows[place] = replace(rows[place], values={**rows[place].values, "grad_norm": NAN})
    assert canonical(fold_curve(rows, keep_closed=True)) == canonical(one_by_one(rows))


@pytest.mark.thorough
@pytest.mark.parametrize("without", range(210, 230))
def test_a_learning_rate_that_a_restart_tells_late_is_compared(without):
    lots = Random(6)
    rows = [row_of(lots, step, 2.0) for step in (*range(CALM), *range(CALM // 2, 2 * CALM))]
    for place in range(CALM, CALM + without):
        values = {name: value for name, value in rows[place].values.items() if name != "lr"}
        rows[place] = replace(rows[place], values=values)
    state = fold_curve(rows, keep_closed=True)
    assert state.lineage.comparison.rate_after is not None
    assert canonical(state) == canonical(one_by_one(rows))


def test_rows_of_the_future_are_no_younger_than_their_source():
    rows = [row_of(Random(3), step, 2.0) for step in range(CALM)]
    seen_at = rows[CALM // 2].at + timedelta(seconds=1)
    state = fold_curve(rows, keep_closed=True, seen_at=seen_at)
    assert state.advanced_at == seen_at
    assert canonical(state) == canonical(one_by_one(rows, seen_at=seen_at))


def test_most_rows_of_a_calm_curve_are_not_judged_by_themselves(monkeypatch):
    """A backtest of a million rows takes half the time by it."""
    lots, by_themselves, judge_row = Random(4), [], dispatch.judge_row
    rows = [row_of(lots, step, 2.0) for step in range(10 * CALM)]

    def count_judged(state, row, names):
        by_themselves.append(row)
        judge_row(state, row, names)

    monkeypatch.setattr("herorun.core.detectors.pipeline.judge_row", count_judged)
    state = fold_curve(rows)
    assert state.judged == len(rows) - len(state.waiting)
    assert len(by_themselves) < CALM


def test_no_batch_begins_before_the_rows_wait():
    state = MetricsState()
    assert columns.take_batch(state, [a_row(0, 2.0)] * CALM, 0, NAMES, None, ()) == 0
    assert canonical(state) == canonical(MetricsState())
