from datetime import timedelta

import pytest

from builders import NOON, PARENT, ROOT, a_checkpoint, a_contract, a_history, a_job, a_plan
from herorun.core.canonical_json import plain
from herorun.core.evidence import (
    JobState,
    Nothing,
    PriorLaunch,
    TrackerIdentity,
    TrackerState,
    Unavailable,
)
from herorun.core.identity.intent import goes_on, intent_of, is_same, tracker_state_of
from herorun.core.identity.resume_matrix import Intent

TRACKER = {"kind": "wandb", "path": None, "entity": "ent", "project": "proj"}


def a_run(**changes):
    return a_plan(a_contract(tracker={**TRACKER, **changes})).tracker.value


def a_prior(**changes):
    return PriorLaunch("tiny-1", {"tracker": plain(a_run(**changes))})


@pytest.mark.parametrize(
    "state", [TrackerState.CRASHED, TrackerState.RUNNING, TrackerState.UNREACHABLE]
)
def test_an_id_that_an_instance_reported_under_is_resumed(state):
    assert intent_of(a_run(), a_prior(), state, False) is Intent.RESUME


def test_an_id_of_nobody_is_new():
    assert intent_of(a_run(), Nothing(), TrackerState.CRASHED, False) is Intent.NEW


@pytest.mark.parametrize("changes", [{"id": "tiny-2"}, {"project": "other"}, {"entity": "other"}])
def test_another_entity_project_or_id_is_another_run(changes):
    assert not is_same(a_run(**changes), a_prior())
    assert intent_of(a_run(**changes), a_prior(), TrackerState.ABSENT, True) is Intent.NEW


def test_another_name_is_the_same_run():
    assert is_same(a_run(name="other"), a_prior())


def test_an_instance_that_died_before_its_first_row_reported_nothing():
    assert intent_of(a_run(), a_prior(), TrackerState.ABSENT, False) is Intent.NEW


def test_one_that_left_a_checkpoint_did():
    assert intent_of(a_run(), a_prior(), TrackerState.ABSENT, True) is Intent.RESUME


def test_only_the_first_launch_of_a_fork_forks():
    forked_run = a_run(fork_from="parent?_step=9")

    assert intent_of(forked_run, Nothing(), TrackerState.ABSENT, True) is Intent.FORK
    assert intent_of(forked_run, a_prior(), TrackerState.CRASHED, True) is Intent.RESUME


def test_it_continues_from_its_own_roots_only():
    own, other = a_checkpoint(100), a_checkpoint(100, root=PARENT)
    started_contract = a_contract(start={"from": other.path})

    assert goes_on(a_plan(own=[own], history=a_history()))
    assert not goes_on(a_plan(started_contract, beside=[other]))
    assert not goes_on(a_plan())
    assert not own.path.startswith(f"{ROOT}-")


# --- W&B notices late that a job is gone ----------------------------------------------------------

ENDED_JOB = a_job(JobState.FAILED, ended=NOON)


def running(beat):
    return TrackerIdentity(state=TrackerState.RUNNING, heartbeat=beat.isoformat())


@pytest.mark.parametrize(
    ("identity", "job", "state"),
    [
        (running(NOON - timedelta(seconds=20)), ENDED_JOB, TrackerState.CRASHED),
        (running(NOON + timedelta(seconds=50)), ENDED_JOB, TrackerState.CRASHED),
        (running(NOON + timedelta(seconds=90)), ENDED_JOB, TrackerState.RUNNING),
        (running(NOON.replace(tzinfo=None)), ENDED_JOB, TrackerState.CRASHED),
        (running(NOON), a_job(), TrackerState.RUNNING),
        (running(NOON), Unavailable("gone"), TrackerState.RUNNING),
        (running(NOON), Nothing(), TrackerState.RUNNING),
        (TrackerIdentity(state=TrackerState.RUNNING), ENDED_JOB, TrackerState.RUNNING),
        (
            TrackerIdentity(state=TrackerState.FAILED, heartbeat=NOON.isoformat()),
            ENDED_JOB,
            TrackerState.FAILED,
        ),
    ],
)
def test_a_heart_that_beats_on_after_our_job_ended_is_another_writers(identity, job, state):
    assert tracker_state_of(identity, job) is state
