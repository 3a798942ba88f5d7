import pytest

from builders import FINAL, answer, some_metrics
from herorun.checks.seal.short_of_final_step import short_of_final_step
from herorun.core.evidence import FinalStep, Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome


@pytest.mark.parametrize(
    ("step", "outcome"), [(FINAL, Outcome.PASS), (FINAL - 1, Outcome.FAIL), (FINAL + 1, Outcome.PASS)]
)
def test_the_last_step_must_be_the_final_one(step, outcome):
    assert answer(short_of_final_step, some_metrics(step)).outcome is outcome


def test_it_says_how_many_are_missing():
    assert answer(short_of_final_step, some_metrics(150)).message == (
        "the last reported step is 150 of 200: 50 are missing"
    )


def test_an_earlier_attempts_high_water_does_not_count():
    assert answer(short_of_final_step, some_metrics(150, high_water=FINAL)).outcome is Outcome.FAIL


def test_an_unknown_end_or_no_step_at_all_fails():
    unknown = answer(short_of_final_step, FinalStep(None, "the contract states no final_step"))

    assert unknown.outcome is Outcome.FAIL and "states no final_step" in unknown.message
    assert answer(short_of_final_step, {Metrics: Nothing()}).outcome is Outcome.FAIL


def test_unread_metrics_are_unknown():
    assert answer(short_of_final_step, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN
