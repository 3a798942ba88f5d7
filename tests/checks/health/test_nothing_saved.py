from dataclasses import replace
from datetime import timedelta

import pytest

from builders import MINUTE, NOON, a_checkpoint, a_contract, a_job, answer, some_metrics
from herorun.checks.health.nothing_saved import nothing_saved
from herorun.core.evidence import Checkpoints, JobState, Metrics, Nothing
from herorun.core.finding import Outcome
from wording import mentions

SECOND = timedelta(seconds=1)
HOURLY = a_contract(checkpoints={"temporary_every": "1h"})
BY_STEPS = a_contract(checkpoints={"permanent_every": 100, "temporary_every": None})
OLD = Checkpoints((replace(a_checkpoint(100), modified=NOON - timedelta(days=1)),))


def up(age, saved_step=OLD, contract=HOURLY, step=150, first=101):
    rows = some_metrics(step, advanced_at=NOON, first_step=first)
    return answer(nothing_saved, contract, a_job(started=NOON - age), rows, saved_step)


@pytest.mark.parametrize(
    ("age", "outcome"), [(105 * MINUTE, Outcome.PASS), (105 * MINUTE + SECOND, Outcome.FAIL)]
)
def test_one_interval_after_the_time_of_a_start(age, outcome):
    assert up(age).outcome is outcome


@pytest.mark.parametrize(("step", "outcome"), [(200, Outcome.PASS), (201, Outcome.FAIL)])
def test_one_interval_of_steps(step, outcome):
    assert up(10 * MINUTE, contract=BY_STEPS, step=step).outcome is outcome


def test_it_says_how_old_it_is():
    assert mentions(up(200 * MINUTE).message, "tiny-1", "trained", "3h20m", "1h", "temporary_every")


def test_one_save_of_its_own_is_enough():
    own = Checkpoints((replace(a_checkpoint(120), modified=NOON - 100 * MINUTE),))
    untimed_checkpoints = Checkpoints((a_checkpoint(120),))

    assert up(300 * MINUTE, own).outcome is Outcome.PASS
    assert up(300 * MINUTE, untimed_checkpoints).outcome is Outcome.PASS


def test_half_of_one_is_none():
    half = Checkpoints((replace(a_checkpoint(120, problem="no metadata.json"), modified=NOON),))

    assert up(300 * MINUTE, half).outcome is Outcome.FAIL


def test_a_job_that_does_not_train_is_not_asked():
    assert answer(nothing_saved, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(nothing_saved, a_job(JobState.PREEMPTED)).outcome is Outcome.NOT_APPLICABLE
    assert answer(nothing_saved, a_job(JobState.UNKNOWN)).outcome is Outcome.UNKNOWN
