import pytest

from builders import FINAL, NOON, answer, answers, some_metrics
from herorun.checks.health.past_final_step import past_final_step
from herorun.core.check import Response
from herorun.core.evidence import (
    FinalStep,
    Metrics,
    Nothing,
    PriorLaunch,
    TrackerIdentity,
    TrackerState,
)
from herorun.core.finding import Outcome
from wording import mentions


def config(steps):
    return TrackerIdentity(
        state=TrackerState.RUNNING, config={"trainer": {"num_train_steps": steps}}
    )


def by_config(*changes):
    verdicts = answers(past_final_step, *changes)
    return next(verdict for verdict in verdicts if verdict.subject == "config")


@pytest.mark.parametrize(
    ("step", "outcome"),
    [(FINAL, Outcome.PASS), (FINAL + 1, Outcome.PASS), (FINAL + 2, Outcome.FAIL)],
)
def test_one_row_beyond_is_a_last_evaluation(step, outcome):
    assert answer(past_final_step, some_metrics(step)).outcome is outcome


def test_the_trackers_config_says_twice_as_many():
    verdict = by_config(config(2 * FINAL))

    assert verdict.outcome is Outcome.FAIL
    assert mentions(
        verdict.message, "trainer.num_train_steps", "=", f"{2 * FINAL}", "final", f"{FINAL}"
    )


def test_a_config_that_agrees_or_was_admitted_so():
    admission = PriorLaunch("tiny-1", {"config": {"trainer": {"num_train_steps": 400}}})

    assert by_config(config(FINAL)).outcome is Outcome.PASS
    assert by_config(config(400), admission).outcome is Outcome.PASS
    assert answer(past_final_step, TrackerIdentity(state=TrackerState.ABSENT)).subject == "step"


def test_an_earlier_instances_rows_do_not_count():
    from datetime import timedelta

    old = some_metrics(FINAL + 9, advanced_at=NOON - timedelta(days=1))

    assert answer(past_final_step, old).outcome is Outcome.NOT_APPLICABLE


def test_without_rows_or_a_final_step_nothing_is_past():
    verdict = answer(past_final_step, {Metrics: Nothing(), TrackerIdentity: Nothing()})
    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert answer(past_final_step, FinalStep(None)).outcome is Outcome.NOT_APPLICABLE


def test_it_asks_a_person():
    assert past_final_step.response is Response.ESCALATE
