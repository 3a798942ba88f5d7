from dataclasses import replace
from datetime import timedelta

import pytest

from builders import MINUTE, NOON, a_checkpoint, a_contract, a_job, answer, some_metrics
from herorun.checks.health.stalled_checkpoints import stalled_checkpoints
from herorun.core.check import Response, Topic
from herorun.core.evidence import Checkpoints, JobState, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

SECOND = timedelta(seconds=1)
BY_STEPS = a_contract(checkpoints={"permanent_every": 100, "temporary_every": None})
BY_TIME = a_contract(checkpoints={"permanent_every": None, "temporary_every": "20m"})
LONG = a_job(started=NOON - timedelta(days=1))


def at(step, age=None, contract=BY_STEPS, job=LONG):
    newest = replace(a_checkpoint(200), modified=NOON - age if age is not None else None)
    rows = some_metrics(step, advanced_at=NOON, first_step=1)
    return answer(stalled_checkpoints, contract, job, rows, Checkpoints((newest,)))


@pytest.mark.parametrize(("step", "outcome"), [(450, Outcome.PASS), (451, Outcome.FAIL)])
def test_two_and_a_half_intervals_of_steps(step, outcome):
    assert at(step).outcome is outcome


@pytest.mark.parametrize(
    ("age", "outcome"), [(60 * MINUTE, Outcome.PASS), (60 * MINUTE + SECOND, Outcome.FAIL)]
)
def test_two_and_a_half_intervals_of_time_and_ten_minutes_for_the_save(age, outcome):
    assert at(300, age, BY_TIME).outcome is outcome


@pytest.mark.parametrize(
    ("up", "outcome"), [(105 * MINUTE, Outcome.PASS), (105 * MINUTE + SECOND, Outcome.FAIL)]
)
def test_a_start_may_take_45_minutes(up, outcome):
    assert at(300, timedelta(days=2), BY_TIME, a_job(started=NOON - up)).outcome is outcome


def test_steps_that_stay_constant_are_another_matter():
    old = some_metrics(201, advanced_at=NOON - 50 * MINUTE)
    newest = Checkpoints((replace(a_checkpoint(200), modified=NOON - 55 * MINUTE),))

    assert answer(stalled_checkpoints, BY_TIME, LONG, old, newest).outcome is Outcome.PASS


def test_it_says_why_a_newer_one_does_not_count():
    rows = some_metrics(451, advanced_at=NOON, first_step=1)
    whole, newer = a_checkpoint(200), replace(a_checkpoint(300), problem="no metadata.json")
    cut = replace(a_checkpoint(100), problem="CUT")

    def message(*candidates):
        saves = Checkpoints(candidates)
        return answer(stalled_checkpoints, BY_STEPS, LONG, rows, saves).message

    assert mentions(message(cut, whole, newer), newer.path, newer.problem)
    assert "CUT" not in message(cut, whole) + message(cut, whole, newer)


def test_what_could_not_be_read_is_unknown():
    assert answer(stalled_checkpoints, {Checkpoints: Unavailable("403")}).outcome is Outcome.UNKNOWN
    assert answer(stalled_checkpoints, a_job(JobState.UNKNOWN)).outcome is Outcome.UNKNOWN


def test_it_asks_a_person():
    assert (stalled_checkpoints.response, stalled_checkpoints.topic) == (
        Response.ESCALATE,
        Topic.CHECKPOINTS,
    )
    assert not stalled_checkpoints.vetoes_relaunch
