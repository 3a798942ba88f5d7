from dataclasses import replace

import pytest

from builders import (
    MINUTE,
    NOON,
    a_history,
    an_excursion,
    an_instance,
    answer,
    answers,
    some_metrics,
)
from herorun.checks.health.throughput_leak import Limits, throughput_leak
from herorun.core.evidence import Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def lasting(rows, **changes):
    return replace(an_excursion(rows, 1.1), kind="leak", **changes)


def outcome_of(*excursions, limits=None):
    return answer(throughput_leak, some_metrics(excursions=excursions), limits=limits).outcome


def test_a_calm_run_passes():
    assert mentions(answer(throughput_leak).message, "slowdown", "100")


@pytest.mark.parametrize(("rows", "outcome"), [(100, Outcome.FAIL), (99, Outcome.PASS)])
def test_it_must_last(rows, outcome):
    assert outcome_of(lasting(rows)) is outcome
    assert outcome_of(an_excursion(rows)) is Outcome.PASS  # of another kind


def test_the_limit_is_the_contracts():
    assert outcome_of(lasting(99), limits=Limits(rows=99)) is Outcome.FAIL
    assert outcome_of(lasting(100), limits=Limits(rows=101)) is Outcome.PASS


def test_a_declared_phase_mutes_a_warning():
    assert outcome_of(lasting(100, declared=True)) is Outcome.PASS


def test_it_says_where_it_began():
    verdict = answer(throughput_leak, some_metrics(excursions=(lasting(100),)))

    assert verdict.subject == "loss from step 90" and mentions(verdict.message, "progress")


def test_what_an_earlier_instance_reported_is_not_this_ones():
    relaunched_history = a_history(
        instances=(an_instance(), an_instance(2, intended=NOON, started=NOON))
    )
    old = some_metrics(excursions=(lasting(100),), advanced_at=NOON - MINUTE)

    assert answer(throughput_leak, relaunched_history, old).outcome is Outcome.NOT_APPLICABLE


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(throughput_leak, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(throughput_leak, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(("peak", "count"), [(1.42, 1), (1.43, 2)])
def test_a_deep_leak_is_told_again(peak, count):
    verdicts = answers(throughput_leak, some_metrics(excursions=(lasting(100, peak=peak),)))

    assert len({verdict.subject for verdict in verdicts}) == len(verdicts) == count
