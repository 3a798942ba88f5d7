from dataclasses import replace

import pytest

from builders import an_excursion, answer, some_metrics
from herorun.checks.health.saturated_loss import Limits, saturated_loss
from herorun.core.check import Topic
from herorun.core.evidence import Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def saturated_excursion(rows, **changes):
    return replace(an_excursion(rows), kind="saturated", expected=87.3365, **changes)


def outcome_of(*excursions, limits=None):
    return answer(saturated_loss, some_metrics(excursions=excursions), limits=limits).outcome


def test_a_calm_run_passes():
    assert mentions(answer(saturated_loss).message, "saturated", "100")


def test_one_row_is_enough():
    assert outcome_of(saturated_excursion(1)) is Outcome.FAIL
    assert outcome_of(an_excursion(50)) is Outcome.PASS  # of another kind


@pytest.mark.parametrize(("rows", "outcome"), [(3, Outcome.FAIL), (2, Outcome.PASS)])
def test_the_limit_is_the_contracts(rows, outcome):
    assert outcome_of(saturated_excursion(rows), limits=Limits(rows=3)) is outcome


def test_it_says_what_the_number_is_and_where_it_began():
    verdict = answer(saturated_loss, some_metrics(excursions=(saturated_excursion(10),)))

    assert verdict.subject == "loss from step 90"
    assert mentions(verdict.message, "87.3365", "clipped", "10 rows", "90")


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(saturated_loss, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(saturated_loss, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN


def test_it_vetoes_a_relaunch():
    assert saturated_loss.topic is Topic.NUMERIC and saturated_loss.vetoes_relaunch
