import math

import pytest

from builders import NOON, a_contract, answer, answers, some_metrics
from herorun.checks.health.differing_step_counters import differing_step_counters
from herorun.core.check import Hold, Response
from herorun.core.finding import Outcome
from wording import mentions


def ask_check(value, **tracker):
    rows = some_metrics(100, last={"train/loss": 2.5, "train/global_step": value})
    return answer(differing_step_counters, a_contract(tracker=tracker), rows)


@pytest.mark.parametrize("value", [98.0, 99.0, 100.0])
def test_the_same_step_counted_from_0_or_from_1(value):
    assert ask_check(value).outcome is Outcome.PASS
    assert ask_check(value + 1, first_step=1).outcome is Outcome.PASS


@pytest.mark.parametrize("value", [97.0, 101.0, 990.0, math.nan])
def test_another_step_than_the_row_is_logged_under(value):
    verdict = ask_check(value)

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "train/global_step")
    assert mentions(verdict.message, "train/global_step", f"{value:g}", "logged", "99")


def test_rows_without_a_counter_and_rows_of_an_older_instance():
    assert answer(differing_step_counters, some_metrics(100)).outcome is Outcome.NOT_APPLICABLE
    old = some_metrics(100, advanced_at=NOON.replace(year=2025), last={"global_step": 7.0})
    assert answers(differing_step_counters, old)[0].outcome is Outcome.NOT_APPLICABLE


def test_it_warns_at_the_second_look():
    assert (differing_step_counters.response, differing_step_counters.hold) == (
        Response.WARN,
        Hold(ticks=2),
    )
