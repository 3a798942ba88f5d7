"""Two writers in one history, told from restarts, crash loops and stragglers."""

import math
from dataclasses import replace
from itertools import chain

import pytest

from builders import a_row
from curves import CALM, curve, excursions_of
from herorun.core.detectors.interleaved_writers import MAX_TURN_ROWS, WriterTurns, arrive
from herorun.core.detectors.reorder import WAITING


def mixed_rows(*steps):
    state = WriterTurns()
    for number, step in enumerate(steps):
        arrive(state, step, float(number))
    return state.mixed.excursions("mixed", "rows")


def in_turn(first, second, rows, batch=1, gap=1):
    """The steps of two writers that write so many rows each, by batches."""
    for start in range(0, rows, batch):
        yield from (first + gap * (start + i) for i in range(batch))
        yield from (second + gap * (start + i) for i in range(batch))


@pytest.mark.parametrize(("rows", "count"), [(3, 0), (4, 1)])
def test_six_turns_are_two_writers(rows, count):
    assert len(mixed_rows(*in_turn(1000, 0, rows))) == count


@pytest.mark.parametrize(("batch", "gap"), [(1, 1), (1, 100), (50, 1), (MAX_TURN_ROWS, 10)])
def test_whatever_they_log_at_once_and_how_often(batch, gap):
    (excursion,) = mixed_rows(*in_turn(1_000_000, 500, 8 * batch, batch, gap))

    assert excursion.open and excursion.kind == "mixed" and excursion.metric == "rows"


def test_turns_that_are_too_long_are_none():
    assert mixed_rows(*in_turn(1_000_000, 500, 8 * (MAX_TURN_ROWS + 50), MAX_TURN_ROWS + 50)) == []


@pytest.mark.parametrize(("faster", "count"), [(1, 1), (5, 1)])
def test_one_may_be_faster(faster, count):
    steps = chain.from_iterable(
        ((1000 + faster * i + j for j in range(faster)), (i,)) for i in range(20)
    )

    assert len(mixed_rows(*chain.from_iterable(steps))) == count


def test_a_crash_loop_is_one_writer():
    # each gets further than the one before
    attempts = [range(100 * n, 100 * n + 250) for n in range(40)]
    crash_ranges = [range(5000, 5000 + 30 + n % 3) for n in range(40)]  # none of these does

    assert mixed_rows(*chain(*attempts, *crash_ranges)) == []
    assert (
        mixed_rows(*chain(*(range(4000 + 95 * n, 4000 + 95 * n + 201, 10) for n in range(40))))
        == []
    )


def test_a_straggler_now_and_then_is_no_writer():
    rows = chain.from_iterable((i, i - 30) if i % 100 == 50 else (i,) for i in range(5000))

    assert mixed_rows(*rows) == []


def test_a_few_steps_apart_they_are_rows_out_of_order():
    assert mixed_rows(*in_turn(1000, 1000 - WAITING, 50)) == []


def test_it_is_over_when_one_has_stopped():
    (excursion,) = mixed_rows(*in_turn(1000, 0, 20), *range(20, 20 + MAX_TURN_ROWS + 1))

    assert not excursion.open


def test_only_rows_with_a_loss_count():
    rows = curve(*CALM, first=1000)
    late = [replace(row, step=row.step - 500, values={"eval/loss": 2.0}) for row in rows]

    assert excursions_of([*chain.from_iterable(zip(rows, late, strict=True))], "mixed") == ()
    both = [*chain.from_iterable(zip(rows, curve(*CALM, first=500), strict=True))]
    assert len(excursions_of(both, "mixed")) == 1


def test_a_row_without_anything_is_no_turn():
    assert excursions_of([a_row(step) for step in in_turn(1000, 0, 20)], "mixed") == ()


def doubled_rows(*rows):
    state = WriterTurns()
    for step, loss in rows:
        arrive(state, step, loss)
    return state.doubled.excursions("doubled", "rows")


def twice(steps, apart=0.01):
    for step in steps:
        yield step, 2.0
        yield step, 2.0 + apart


@pytest.mark.parametrize(("steps", "count"), [(9, 0), (10, 1)])
def test_ten_steps_told_twice_are_two_writers_at_one_place(steps, count):
    assert len(doubled_rows(*twice(range(steps)))) == count


def test_a_row_that_comes_twice_is_the_same_row():
    assert doubled_rows(*twice(range(50), apart=0.0)) == []
    assert doubled_rows(*((step, math.nan) for step in range(50) for _ in range(2))) == []


def test_two_that_drift_a_few_steps_apart_are_doubled_too():
    ahead = [(i, 2.0) for i in range(5)] + [
        row for i in range(60) for row in ((i, 2.1), (i + 5, 2.0))
    ]

    assert len(doubled_rows(*ahead)) == 1


def test_an_evaluation_in_the_same_column_now_and_then_is_none():
    rows = ((i, loss) for i in range(500) for loss in ((2.0, 2.2) if i % 9 == 0 else (2.0,)))

    assert doubled_rows(*rows) == []


def test_a_restart_repeats_its_rows_once():
    assert doubled_rows(*((i, 2.0) for i in range(20)), *((i, 2.1) for i in range(10, 60))) == []


def test_it_ends_where_each_step_is_reported_once():
    (over,) = doubled_rows(*twice(range(20)), *((i, 2.0) for i in range(20, 40)))

    assert not over.open and over.rows == 11
