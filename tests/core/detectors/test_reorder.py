"""Rows in the order of their steps, and attempts told apart."""

from dataclasses import replace

import pytest

from builders import MINUTE, NOON, a_row
from curves import CALM, NAMES, curve, fold_curve, summarise
from herorun.core.canonical_json import canonical
from herorun.core.detectors.names import Names
from herorun.core.detectors.pipeline import fold_rows
from herorun.core.detectors.reorder import WAITING
from herorun.core.detectors.state import MetricsState
from herorun.core.ports import Row


def shuffle_rows(rows, distance):
    """Every row up to `distance` places from where it belongs."""
    return [
        row
        for i in range(0, len(rows), distance + 1)
        for row in reversed(rows[i : i + distance + 1])
    ]


def summary_of(rows):
    """What it amounts to, but for how many rows came, and how many of them were late."""
    return replace(summarise(fold_curve(rows)), rows=0, late=0)


def test_before_the_first_row_there_is_no_evidence():
    assert summarise(MetricsState()) is None


@pytest.mark.parametrize(("first_step", "completed_step"), [(0, 10), (1, 9)])
def test_steps_are_completed_updates(first_step, completed_step):
    names = Names(first_step=first_step)
    state = fold_rows(MetricsState(), [a_row(9, 2.0)], names)

    assert summarise(state, names).step == completed_step


def test_the_newest_row_is_kept_with_its_time():
    metrics = summarise(fold_curve([a_row(0, 2.0), a_row(1, 1.9, lr=0.1)]))

    assert metrics.last == {"train/loss": 1.9, "lr": 0.1}
    assert metrics.advanced_at == a_row(1).at


def test_a_row_without_a_time_gets_the_files():
    assert fold_curve([Row(3, {})], seen_at=NOON).advanced_at == NOON


def test_a_row_from_the_future_is_no_younger_than_its_file():
    future = a_row(0, 2.5, NOON.replace(year=2099))

    assert fold_rows(MetricsState(), [future], Names(), seen_at=NOON).advanced_at == NOON


@pytest.mark.parametrize(("first", "attempts"), [(3, 2), (8, 1), (28, 1)])
def test_a_step_far_before_the_first_rows_is_a_new_attempt(first, attempts):
    """By the first six rows, five steps apart, one at step 8 may only have come late."""
    rows = [*curve(*CALM[:6], first=33, gap=5), *curve(*CALM[:1], first=first)]
    metrics = summarise(fold_curve(rows))

    assert (metrics.attempts, metrics.lost) == (attempts, ())


def test_a_step_that_went_back_is_a_new_attempt():
    metrics = summarise(fold_curve([*curve(*CALM), *curve(2.0, 2.0, first=40)]))

    assert (metrics.attempts, metrics.first_step, metrics.step, metrics.high_water) == (
        2,
        41,
        42,
        60,
    )


def test_a_few_steps_back_are_a_new_attempt_if_the_loss_is_another():
    metrics = summarise(fold_curve([*curve(*CALM), *curve(2.1, 2.1, 2.1, first=57)]))

    assert (metrics.attempts, metrics.first_step, metrics.step) == (2, 58, 60)


def test_a_few_steps_back_are_a_new_attempt_if_they_are_reported_later():
    later = [replace(row, at=row.at + 9 * MINUTE) for row in curve(*[2.0] * 8, first=57)]

    assert summarise(fold_curve([*curve(*CALM), *later])).attempts == 2


def test_a_new_execution_is_a_new_attempt_and_a_straggler_of_the_old_is_none():
    rows = [replace(row, attempt="a") for row in curve(*CALM)]
    rows += [replace(row, attempt="b") for row in curve(*CALM, first=60)]
    metrics = summarise(fold_curve([*rows, rows[59]]))

    assert (metrics.attempts, metrics.first_step, metrics.late) == (2, 61, 1)


def test_an_attempt_that_repeats_a_row_is_still_one():
    again = curve(*[2.0] * 5, first=20)

    assert (
        summarise(
            fold_curve([*curve(*CALM), *again, again[1], *curve(*[2.0] * 9, first=25)])
        ).attempts
        == 2
    )


def test_a_row_that_comes_twice_is_judged_once():
    twice = [row for row in curve(*CALM) for _ in "ab"]

    assert summary_of(twice) == summary_of(curve(*CALM))
    assert summarise(fold_curve(twice)).late == 60


def test_rows_that_come_a_little_out_of_order_change_nothing():
    rows = curve(*CALM, *[3.5] * 12, *CALM, grad_norm=1.0)

    assert summary_of(shuffle_rows(rows, WAITING - 1)) == summary_of(rows)
    assert summarise(fold_curve(shuffle_rows(rows, WAITING - 1))).attempts == 1


def test_a_step_in_several_rows_is_judged_whole():
    split = [row for i in range(60) for row in (a_row(i, grad_norm=1.0), a_row(i, 2.0))]
    whole = [a_row(i, 2.0, grad_norm=1.0) for i in range(60)]

    assert summary_of(split) == summary_of(whole)


def test_of_two_losses_of_a_step_the_first_stands():
    metrics = summarise(fold_curve([a_row(0, 2.0), Row(0, {"loss": 9.0, "lr": 0.1}, NOON)]))

    assert metrics.last == {"train/loss": 2.0, "lr": 0.1}


def test_the_state_is_no_larger_for_a_longer_run():
    names = replace(NAMES, declared=("lr",))
    small, large = (
        len(canonical(fold_curve(curve(*[2.0] * n, grad_norm=1.0, lr=0.1), names=names)))
        for n in (4000, 12000)
    )

    assert large < 1.1 * small
