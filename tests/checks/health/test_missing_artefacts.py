from dataclasses import replace
from datetime import timedelta

import pytest

from builders import (
    FINAL,
    NOON,
    a_checkpoint,
    a_history,
    a_job,
    an_instance,
    answer,
    answers,
    some_metrics,
)
from herorun.checks.health.missing_artefacts import missing_artefacts
from herorun.core.check import Response
from herorun.core.evidence import (
    Checkpoints,
    FinalStep,
    JobState,
    TrackerIdentity,
    TrackerState,
    Unavailable,
)
from herorun.core.finding import Outcome

SUCCESSFUL_JOB = a_job(JobState.SUCCEEDED, ended=NOON)
WHOLE = Checkpoints((a_checkpoint(100), a_checkpoint(FINAL)))
REACHED_METRICS = some_metrics(FINAL)


def outcomes_by_artefact(*changes, job=SUCCESSFUL_JOB):
    verdicts = answers(missing_artefacts, job, REACHED_METRICS, WHOLE, *changes)
    return {v.subject: v.outcome for v in verdicts}


def test_a_live_job_owes_nothing_yet():
    assert answer(missing_artefacts).outcome is Outcome.NOT_APPLICABLE


def test_a_complete_final_checkpoint_passes():
    assert outcomes_by_artefact() == {"checkpoint": Outcome.PASS}


@pytest.mark.parametrize(
    "there",
    [
        (a_checkpoint(100),),
        (a_checkpoint(100), a_checkpoint(FINAL, problem="no metadata.json")),
        (a_checkpoint(100), replace(a_checkpoint(FINAL, problem="a backup"), alike=True)),
    ],
)
def test_a_final_checkpoint_that_is_missing_or_half(there):
    assert outcomes_by_artefact(Checkpoints(there)) == {"checkpoint": Outcome.FAIL}


def test_one_that_could_not_be_looked_into_is_unknown():
    unread_checkpoint = replace(a_checkpoint(FINAL), examined=False, problem="403")

    assert outcomes_by_artefact(Checkpoints((unread_checkpoint,))) == {
        "checkpoint": Outcome.UNKNOWN
    }
    assert (
        answer(missing_artefacts, SUCCESSFUL_JOB, {Checkpoints: Unavailable("403")}).outcome
        is Outcome.UNKNOWN
    )


@pytest.mark.parametrize(
    ("state", "ago", "outcome"),
    [
        (TrackerState.FINISHED, 0, Outcome.PASS),
        (TrackerState.RUNNING, 10, Outcome.NOT_APPLICABLE),
        (TrackerState.RUNNING, 10.1, Outcome.FAIL),
        (TrackerState.CRASHED, 0, Outcome.FAIL),
        (TrackerState.ABSENT, 0, Outcome.FAIL),
        (TrackerState.UNREACHABLE, 0, Outcome.UNKNOWN),
    ],
)
def test_the_trackers_run_should_be_finished_within_ten_minutes(state, ago, outcome):
    job = a_job(JobState.SUCCEEDED, ended=NOON - timedelta(minutes=ago))

    assert (
        outcomes_by_artefact(TrackerIdentity(state=state, why="503"), job=job)["tracker"] is outcome
    )


def test_a_short_end_is_another_question():
    verdict = answer(missing_artefacts, SUCCESSFUL_JOB, some_metrics(FINAL - 1))

    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert (
        answer(missing_artefacts, SUCCESSFUL_JOB, FinalStep(None)).outcome is Outcome.NOT_APPLICABLE
    )


def test_it_asks_a_person():
    assert missing_artefacts.response is Response.ESCALATE


def test_the_tracker_is_judged_where_it_drops_the_rows_of_the_new_instance():
    """A complete final checkpoint shows the end; the newest row is of the instance before."""
    again = a_history(instances=(an_instance(1), an_instance(2, start=180)))
    old = some_metrics(FINAL, instance="tiny-1")
    crashed_identity = TrackerIdentity(state=TrackerState.CRASHED)
    job = replace(SUCCESSFUL_JOB, instance="tiny-2", ended=NOON - timedelta(hours=1))
    assert outcomes_by_artefact(again, old, crashed_identity, job=job)["checkpoint"] is Outcome.PASS
    assert outcomes_by_artefact(again, old, crashed_identity, job=job)["tracker"] is Outcome.FAIL
