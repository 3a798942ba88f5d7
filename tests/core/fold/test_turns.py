"""Two writers in one history, told from restarts, crash loops and stragglers."""

from dataclasses import replace
from itertools import chain

import pytest

from builders import a_row
from curves import CALM, curve, found
from herorun.core.fold.order import WAITING
from herorun.core.fold.turns import LONGEST, Turns, arrive


def mixed(*steps):
    state = Turns()
    for step in steps:
        arrive(state, step)
    return state.told()


def in_turn(first, second, rows, batch=1, gap=1):
    """The steps of two writers that write so many rows each, by batches."""
    for start in range(0, rows, batch):
        yield from (first + gap * (start + i) for i in range(batch))
        yield from (second + gap * (start + i) for i in range(batch))


@pytest.mark.parametrize(("rows", "count"), [(3, 0), (4, 1)])
def test_six_turns_are_two_writers(rows, count):
    assert len(mixed(*in_turn(1000, 0, rows))) == count


@pytest.mark.parametrize(("batch", "gap"), [(1, 1), (1, 100), (50, 1), (LONGEST, 10)])
def test_whatever_they_log_at_once_and_how_often(batch, gap):
    (told,) = mixed(*in_turn(1_000_000, 500, 8 * batch, batch, gap))

    assert told.open and told.kind == "mixed" and told.metric == "rows"


def test_turns_that_are_too_long_are_none():
    assert mixed(*in_turn(1_000_000, 500, 8 * (LONGEST + 50), LONGEST + 50)) == []


@pytest.mark.parametrize(("faster", "count"), [(1, 1), (5, 1)])
def test_one_may_be_faster(faster, count):
    steps = chain.from_iterable(((1000 + faster * i + j for j in range(faster)), (i,)) for i in range(20))

    assert len(mixed(*chain.from_iterable(steps))) == count


def test_a_crash_loop_is_one_writer():
    attempts = [range(100 * n, 100 * n + 250) for n in range(40)]  # each gets further than the one before
    stuck = [range(5000, 5000 + 30 + n % 3) for n in range(40)]  # none of these does

    assert mixed(*chain(*attempts, *stuck)) == []
    assert mixed(*chain(*(range(4000 + 95 * n, 4000 + 95 * n + 201, 10) for n in range(40)))) == []


def test_a_straggler_now_and_then_is_no_writer():
    rows = chain.from_iterable((i, i - 30) if i % 100 == 50 else (i,) for i in range(5000))

    assert mixed(*rows) == []


def test_a_few_steps_apart_they_are_rows_out_of_order():
    assert mixed(*in_turn(1000, 1000 - WAITING, 50)) == []


def test_it_is_over_when_one_has_stopped():
    (told,) = mixed(*in_turn(1000, 0, 20), *range(20, 20 + LONGEST + 1))

    assert not told.open


def test_only_rows_with_a_loss_count():
    rows = curve(*CALM, first=1000)
    late = [replace(row, step=row.step - 500, values={"eval/loss": 2.0}) for row in rows]

    assert found([*chain.from_iterable(zip(rows, late, strict=True))], "mixed") == ()
    both = [*chain.from_iterable(zip(rows, curve(*CALM, first=500), strict=True))]
    assert len(found(both, "mixed")) == 1


def test_a_row_without_anything_is_no_turn():
    assert found([a_row(step) for step in in_turn(1000, 0, 20)], "mixed") == ()
