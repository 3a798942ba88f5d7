from dataclasses import replace

import pytest

from builders import an_excursion, answers, some_metrics
from herorun.checks.health.overfitting import Limits, overfitting
from herorun.core.evidence import Excursion, Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome


def a_rise(rows: int) -> Excursion:
    return replace(an_excursion(rows, metric="eval/loss"), kind="overfit")


def outcome_of(*changes: object, limits: Limits | None = None) -> Outcome:
    (verdict,) = answers(overfitting, *changes, limits=limits)
    return verdict.outcome


@pytest.mark.parametrize(("rows", "outcome"), [(2, Outcome.PASS), (3, Outcome.FAIL)])
def test_it_must_last(rows: int, outcome: Outcome) -> None:
    assert outcome_of(some_metrics(excursions=(a_rise(rows),))) is outcome


def test_the_limit_is_the_contracts() -> None:
    metrics = some_metrics(excursions=(a_rise(3),))
    assert outcome_of(metrics, limits=Limits(evaluations=4)) is Outcome.PASS


def test_no_rows_are_not_applicable_and_unread_ones_unknown() -> None:
    assert outcome_of({Metrics: Nothing()}) is Outcome.NOT_APPLICABLE
    assert outcome_of({Metrics: Unavailable("503")}) is Outcome.UNKNOWN
