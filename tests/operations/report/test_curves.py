"""Rows of a tracker as curves: their attempts, their steps in completed updates, their times."""

import math
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from builders import NOON, a_contract
from herorun.core.detectors.names import Names
from herorun.core.goodput.timeline import Beat
from herorun.core.ports import Row, Rows
from herorun.core.report.annotations import AttemptStart
from herorun.operations.babysit.digest_charts import _picture
from herorun.operations.metrics.charts import attempt_starts, charts_of, traces_of
from herorun.operations.metrics.series import RowSeries, beats_of, read_all

LOSS = "train/loss"
SECOND = 1_000_000
RUN: Any = SimpleNamespace(
    contract=a_contract(tracker={"first_step": 0, "metrics": {"eval_time": "t"}})
)


def a_row(step: int, second: int | None = None, **values: float) -> Row:
    at = None if second is None else NOON + timedelta(seconds=second)
    return Row(step, {LOSS: 2.0, **values}, at)


def series(*rows: Row) -> RowSeries:
    result = RowSeries()
    result.add_all(rows)
    return result


AGAIN = series(*(a_row(step, second) for second, step in enumerate([0, 1, 2, 1, 2, 3, 0])))


def test_a_step_that_goes_back_begins_the_next_attempt() -> None:
    assert attempt_starts(AGAIN, Names()) == [
        AttemptStart(1, 0, NOON),
        AttemptStart(2, 1, NOON + timedelta(seconds=3)),
        AttemptStart(3, 0, NOON + timedelta(seconds=6)),
    ]
    no_loss = series(Row(4, {"speed": 1.0}), Row(5, {"speed": 1.0}))
    assert attempt_starts(no_loss, Names()) == [AttemptStart(1, 4, None)]
    assert attempt_starts(RowSeries(), Names()) == []


def test_of_a_step_that_one_attempt_logged_twice_the_last_value_counts() -> None:
    rows = series(Row(1, {LOSS: 9.0}), Row(1, {LOSS: 3.0}), Row(2, {LOSS: 2.0}))
    ((trace, _),) = traces_of(rows, LOSS, 0)
    assert (list(trace.steps), list(trace.values)) == ([1, 2], [3.0, 2.0])


def test_all_rows_are_read_behind_those_that_are_here() -> None:
    batches = {
        "here": Rows(rows=[a_row(1)], cursor="next"),
        "next": Rows(rows=[a_row(2)], cursor="end"),
    }
    tracker: Any = SimpleNamespace(
        read=lambda cursor: batches.get(cursor, Rows(rows=[], cursor=cursor))
    )
    curves = read_all(tracker, "tiny", [a_row(0)], "here")
    assert [point.step for point in curves.points(LOSS)] == [0, 1, 2]


def test_a_beat_has_its_completed_updates_and_the_seconds_that_its_row_names() -> None:
    rows = series(a_row(0, 0), a_row(1, 10, t=4.0), a_row(2), a_row(3, 30, t=math.inf))
    at = round(NOON.timestamp() * SECOND)
    assert beats_of(rows, RUN) == (
        [Beat(at, 1), Beat(at + 10 * SECOND, 2, 4.0), Beat(at + 30 * SECOND, 4)],
        1,
    )


def test_the_picture_of_a_digest_has_the_curve_and_says_what_is_not_finite() -> None:
    values = [3.0, 2.5, math.nan, 2.0]
    loss, *_ = charts_of(series(*(Row(n, {LOSS: v}) for n, v in enumerate(values))), Names())
    text = _picture(loss)
    assert "line [3, 2.5, 2]" in text
    assert loss.title in text and "1 not finite" in text
