from dataclasses import replace

import pytest

from builders import (
    MINUTE,
    NOON,
    a_contract,
    a_history,
    an_excursion,
    an_instance,
    answer,
    answers,
    some_metrics,
)
from herorun.checks.health.not_finite import Limits, not_finite
from herorun.core.check import Topic
from herorun.core.evidence import Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def broken_metrics(*stretches):
    return some_metrics(non_finite=stretches)


def test_finite_metrics_pass():
    assert mentions(answer(not_finite).message, "finite", "100")


@pytest.mark.parametrize(
    ("metric", "rows", "outcome"),
    [
        ("train/loss", 1, Outcome.FAIL),
        ("loss", 1, Outcome.FAIL),
        ("grad_norm", 1, Outcome.PASS),
        ("grad_norm", 9, Outcome.PASS),
        ("grad_norm", 10, Outcome.FAIL),
    ],
)
def test_one_row_of_a_loss_and_ten_of_the_rest(metric, rows, outcome):
    assert answer(not_finite, broken_metrics(an_excursion(rows, metric=metric))).outcome is outcome


@pytest.mark.parametrize(
    ("metric", "rows", "first", "outcome"),
    [
        ("grad_norm", 3, 51, Outcome.FAIL),
        ("grad_norm", 3, 52, Outcome.PASS),  # 49 steps
        ("grad_norm", 2, 1, Outcome.PASS),
        ("skipped steps", 3, 1, Outcome.PASS),  # some of those between two rows
    ],
)
def test_three_rows_that_span_fifty_steps_are_no_search_for_a_loss_scale(
    metric, rows, first, outcome
):
    norm = replace(an_excursion(rows, metric=metric), first_step=first, last_step=100)

    assert answer(not_finite, broken_metrics(norm)).outcome is outcome


def test_the_contracts_own_name_of_the_loss_counts():
    contract = a_contract(tracker={"metrics": {"loss": "nll"}})

    assert answer(not_finite, broken_metrics(an_excursion(1, metric="nll"))).outcome is Outcome.PASS
    assert (
        answer(not_finite, contract, broken_metrics(an_excursion(1, metric="nll"))).subject == "nll"
    )


def test_each_metric_is_one_subject_by_its_longest_stretch():
    verdicts = answers(
        not_finite,
        broken_metrics(
            an_excursion(12, metric="grad_norm", first=30, is_open=False),
            an_excursion(2, metric="train/loss", first=60, is_open=False),
            an_excursion(3, metric="grad_norm", first=95),
        ),
    )

    assert [v.subject for v in verdicts] == ["grad_norm", "train/loss"]
    assert mentions(verdicts[0].message, "grad_norm", "finite", "30 to", "41", "12")


def test_an_open_stretch_says_so():
    verdict = answer(not_finite, broken_metrics(an_excursion(1, metric="loss", first=97)))

    assert mentions(verdict.message, "finite", "97", "1")


def test_the_limits_are_the_contracts():
    assert (
        answer(not_finite, broken_metrics(an_excursion(1)), limits=Limits(loss_rows=2)).outcome
        is Outcome.PASS
    )
    grad = broken_metrics(an_excursion(9, metric="grad_norm"))
    assert answer(not_finite, grad, limits=Limits(other_rows=9)).outcome is Outcome.FAIL


def test_what_an_earlier_instance_reported_is_not_this_ones():
    relaunched_history = a_history(
        instances=(an_instance(), an_instance(2, intended=NOON, started=NOON))
    )
    old = some_metrics(non_finite=(an_excursion(1),), advanced_at=NOON - MINUTE)
    new = some_metrics(non_finite=(an_excursion(1),), advanced_at=NOON)

    assert answer(not_finite, relaunched_history, old).outcome is Outcome.NOT_APPLICABLE
    assert answer(not_finite, relaunched_history, new).outcome is Outcome.FAIL


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(not_finite, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(not_finite, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN


def test_it_holds_a_relaunch_back_and_mutes_the_curves():
    assert not_finite.vetoes_relaunch and not_finite.topic is Topic.NUMERIC
