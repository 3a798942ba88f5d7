"""Rows as columns are the same rows."""

import math
from array import array
from dataclasses import replace
from datetime import timedelta

import pytest

from builders import NOON
from herorun.core.detectors import pipeline
from herorun.core.detectors.attempts import AttemptTracker
from herorun.core.detectors.names import Names
from herorun.core.detectors.pipeline import fold_rows
from herorun.core.detectors.state import MetricsState
from herorun.core.ports import Row, Rows
from herorun.core.ports.columnar import (
    ChainedRows,
    ColumnarRows,
    RowBuilder,
    chain_rows,
    metric_names,
    newest_time,
)
from herorun.core.row_bounds import MAX_STEP, drop_implausible

NAMES = Names()
COLUMNS = ("train/loss", "grad_norm", "lr", "step_time_s")


def a_log(steps: list[int], is_dated: bool = False) -> list[Row]:
    """Rows with a spike, each with its own values."""
    rows = []
    for number, step in enumerate(steps):
        loss = (3.0 if 210 < number < 230 else 2.0) + 0.01 * math.sin(number)
        values = (loss, 0.3 + 0.001 * math.cos(number), 3e-4, 18.0 + 0.01 * math.sin(3 * number))
        at = NOON + timedelta(seconds=number) if is_dated else None
        rows.append(Row(step, dict(zip(COLUMNS, values, strict=True)), at))
    return rows


def as_columns(rows: list[Row]) -> ColumnarRows:
    columns = {name: array("d", (row.values[name] for row in rows)) for name in rows[0].values}
    times = [row.at for row in rows if row.at]
    return ColumnarRows(array("q", (row.step for row in rows)), columns, times)


RESTART = [*range(300), *range(250, 500)]


@pytest.mark.parametrize("steps", [list(range(500)), RESTART, [*range(200), 10**6, *range(300)]])
@pytest.mark.parametrize("is_dated", [False, True])
def test_columns_are_judged_as_their_rows(steps: list[int], is_dated: bool) -> None:
    rows = a_log(steps, is_dated)
    mixed_rows = chain_rows([as_columns(rows[:100]), rows[100:140], as_columns(rows[140:])])
    assert isinstance(mixed_rows, ChainedRows)
    one_by_one = MetricsState()
    for row in rows:
        one_by_one = fold_rows(one_by_one, [row], NAMES, seen_at=NOON, keep_closed=True)
    for same in (rows, as_columns(rows), mixed_rows):
        assert fold_rows(MetricsState(), same, NAMES, seen_at=NOON) == one_by_one


@pytest.mark.parametrize("steps", [list(range(500)), RESTART])
def test_the_attempts_of_columns_are_those_of_their_rows(steps: list[int]) -> None:
    rows = a_log(steps)
    parts = chain_rows([as_columns(rows[:90]), rows[90:95], as_columns(rows[95:])])
    one = AttemptTracker()
    row_result = [one.attempt_of(row, NAMES) for row in rows]
    for same in (rows, as_columns(rows), parts):
        assert AttemptTracker().attempts_of(same, NAMES) == row_result


def test_a_part_of_them_is_the_same_part() -> None:
    rows = a_log(list(range(60)), is_dated=True)
    mixed_rows = chain_rows([rows[:20], as_columns(rows[20:40]), rows[40:]])
    assert mixed_rows == rows and mixed_rows == tuple(rows) and len(mixed_rows) == 60
    for first, end in ((0, 60), (5, 15), (15, 45), (20, 40), (59, 60), (30, 10), (-5, 99)):
        assert list(mixed_rows[first:end]) == rows[first:end]
    assert mixed_rows[-1] == rows[-1] and list(mixed_rows[::7]) == rows[::7]
    assert mixed_rows != rows[1:]


def test_a_builder_keeps_the_order_and_counts() -> None:
    rows, builder = a_log(list(range(60))), RowBuilder()
    for part in (as_columns(rows[:20]), rows[20:30], as_columns(rows[30:])):
        builder.extend(part)
    assert len(builder) == 60 and builder.build() == rows
    assert RowBuilder().build() == ()


def test_names_and_times_are_those_of_the_rows() -> None:
    rows = a_log(list(range(60)), is_dated=True)
    both = chain_rows([as_columns(rows), [Row(60, {"eval/loss": 2.0})]])
    assert list(metric_names(both)) == [*COLUMNS, "eval/loss"]
    assert newest_time(both) == rows[-1].at
    assert newest_time([Row(1, {})]) is None


def test_columns_with_an_impossible_step_are_bounded_as_rows_are() -> None:
    rows = [*a_log(list(range(60))), replace(a_log([0])[0], step=MAX_STEP + 1)]
    row_result = drop_implausible(Rows(rows=tuple(rows), cursor="c"))
    batch = drop_implausible(Rows(rows=as_columns(rows), cursor="c"))
    assert batch.rows == row_result.rows and batch.problems == row_result.problems != ()


def test_a_value_that_is_not_finite_ends_a_batch_and_does_not_prevent_it(monkeypatch) -> None:
    rows, judged_alone = a_log(list(range(2000))), []
    for place in range(150, 2000, 300):
        rows[place] = replace(rows[place], values={**rows[place].values, "grad_norm": math.inf})
    take = pipeline._take
    monkeypatch.setattr(pipeline, "_take", lambda *each: (judged_alone.append(1), take(*each)))
    fold_rows(MetricsState(), as_columns(rows), NAMES, seen_at=NOON)
    assert len(judged_alone) < 600


def test_a_norm_that_falls_for_long_is_judged_as_its_rows() -> None:
    rows = [
        replace(row, values={**row.values, "grad_norm": 2.0 * 0.999**number})
        for number, row in enumerate(a_log(list(range(500))))
    ]
    one_by_one = MetricsState()
    for row in rows:
        one_by_one = fold_rows(one_by_one, [row], NAMES, seen_at=NOON, keep_closed=True)
    assert fold_rows(MetricsState(), as_columns(rows), NAMES, seen_at=NOON) == one_by_one
