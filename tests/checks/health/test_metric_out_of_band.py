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
    some_metrics,
)
from herorun.checks.health.metric_out_of_band import Limits, metric_out_of_band
from herorun.core.errors import WrongUse
from herorun.core.evidence import Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from herorun.runs.thresholds import check_limits
from wording import mentions


def lasting(rows, **changes):
    return replace(an_excursion(rows), kind="band", **changes)


def outcome_of(*excursions, values=None):
    return answer(metric_out_of_band, some_metrics(excursions=excursions), limits=values).outcome


def test_a_calm_run_passes():
    assert mentions(answer(metric_out_of_band).message, "band", "100")


@pytest.mark.parametrize(("rows", "outcome"), [(10, Outcome.FAIL), (9, Outcome.PASS)])
def test_it_must_last(rows, outcome):
    assert outcome_of(lasting(rows)) is outcome
    assert outcome_of(an_excursion(rows)) is Outcome.PASS  # of another kind


def test_the_limit_is_the_contracts():
    assert outcome_of(lasting(9), values=Limits(rows=9)) is Outcome.FAIL
    assert outcome_of(lasting(10), values=Limits(rows=11)) is Outcome.PASS


def test_a_declared_phase_mutes_no_critical():
    assert outcome_of(lasting(10, declared=True)) is Outcome.FAIL


def test_it_says_where_it_began():
    verdict = answer(metric_out_of_band, some_metrics(excursions=(lasting(10),)))

    assert verdict.subject == "loss from step 90" and mentions(verdict.message, "progress")


def test_what_an_earlier_instance_reported_is_not_this_ones():
    relaunched_history = a_history(
        instances=(an_instance(), an_instance(2, intended=NOON, started=NOON))
    )
    old = some_metrics(excursions=(lasting(10),), advanced_at=NOON - MINUTE)

    assert answer(metric_out_of_band, relaunched_history, old).outcome is Outcome.NOT_APPLICABLE


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(metric_out_of_band, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(metric_out_of_band, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN


def test_a_metric_without_a_band_counts_as_well():
    assert outcome_of(replace(lasting(10), kind="wander")) is Outcome.FAIL


def test_bands_are_the_contracts():
    contract = a_contract(
        babysit={"thresholds": {"metric-out-of-band": {"bands": ["router/load 0.1 0.9"]}}}
    )

    assert check_limits(contract)["metric-out-of-band"].bands == ("router/load 0.1 0.9",)


@pytest.mark.parametrize("band", ["router/load", "router/load 0.1", "router/load low high"])
def test_a_band_that_is_none_is_refused(band):
    with pytest.raises(WrongUse, match="bands"):
        check_limits(a_contract(babysit={"thresholds": {"metric-out-of-band": {"bands": [band]}}}))
