"""What the detectors keep from row to row, one rule at a time."""

import math

import pytest

from herorun.core.detectors import constant_loss, throughput, windows
from herorun.core.detectors.baseline import HALF_LIFE, YOUNG, Trend
from herorun.core.detectors.constant_loss import REPEATS, follow_zero
from herorun.core.detectors.loss_state import LossState
from herorun.core.detectors.throughput import Speed


def test_the_scale_of_a_trend_halves_in_one_half_life():
    trend = Trend(scale=0.1, rows=YOUNG)
    assert trend.rows_until(0.0501) == HALF_LIFE
    assert trend.rows_until(0.1) == 0
    assert (trend.scale, trend.rows) == (0.1, YOUNG)


def test_a_leak_is_over_at_its_first_row_in_bounds():
    state = Speed(settled=True, trend=Trend(rows=100, scale=0.01))
    state.leak.extend(7, 0.3, 1.0, 0.01)
    assert [each.open for each in state.excursions("step_time")] == [True]
    throughput._leak(state, "step_time", 8, 0.0, is_declared=False, boundary=False)
    (leak,) = state.excursions("step_time")
    assert (leak.kind, leak.first_step, leak.rows, leak.open) == ("leak", 7, 1, False)


@pytest.mark.parametrize(("y", "above"), [(2.0, 1), (0.5, 0)])
def test_a_row_is_compared_with_the_one_a_window_earlier(y, above):
    rows = [3.0] * (windows.NEW_ROWS + 5)
    rows[-windows.NEW_ROWS - 1] = 1.0
    state = LossState(recent=rows)
    windows.follow_above(state, y)
    assert state.above == above


@pytest.mark.parametrize(("rows", "usual"), [(0, 0.5), (60, 2.0)])
def test_zeros_are_compared_with_the_usual_loss_or_the_last_positive_one(rows, usual):
    state = LossState(positive=0.5, longest_zeros=1)
    state.trend = Trend(level=math.log(2.0), rows=rows)
    for step in range(REPEATS + 2):
        follow_zero(state, step, None)
    (collapse,) = state.collapsed.excursions("zero", "loss")
    assert collapse.expected == pytest.approx(usual)
    assert state.positive < constant_loss.ONE_NAT
