"""The table from the job's state and the alerts to one word about the run."""

from dataclasses import replace

import pytest

from builders import MINUTE, NOON, a_job, answer, answers, healthy, some_metrics
from core.story import Story
from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.babysit.inhibition import muted_topics
from herorun.core.check import Gate, Severity, Topic
from herorun.core.evidence import Job, JobLog, JobState, Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from herorun.core.health.run_health import (
    AT_THE_END,
    BY_CHECK,
    BY_PROOF,
    BY_STATE,
    BY_TOPIC,
    RunHealth,
    condition,
)
from herorun.core.health.training_proof import Training, TrainingProof
from herorun.discover import checks, checks_named

BY_NAME = {check.name: check for check in checks(Gate.HEALTH)}


def an_alert(check, state=AlertState.FIRING):
    return Alert(check=check, subject="", since=NOON, seen=NOON, state=state, message="said")


COMPLETE_TRAINING = Training(TrainingProof.COMPLETE)


def health(job, *firing, proof=COMPLETE_TRAINING):
    return condition(job, proof, [an_alert(name) for name in firing], BY_NAME).value


def test_the_tables_are_whole():
    assert set(BY_STATE) == set(JobState)
    assert set(BY_TOPIC) == set(Topic)
    assert set(BY_PROOF) == set(TrainingProof)
    assert set(BY_CHECK) | set(AT_THE_END) <= set(BY_NAME)


@pytest.mark.parametrize(
    ("state", "word"),
    [
        ("pending", "starting"),
        ("building", "starting"),
        ("running", "healthy"),
        ("succeeded", "finished"),
        ("failed", "down"),
        ("cancelled", "down"),
        ("preempted", "down"),
        ("timed-out", "down"),
        ("out-of-memory", "down"),
        ("node-failed", "down"),
        ("unschedulable", "down"),
        ("gone", "unknown"),
        ("unknown", "unknown"),
    ],
)
def test_without_an_alert_the_jobs_state_decides(state, word):
    assert health(a_job(JobState(state))) == word


@pytest.mark.parametrize(
    ("proof", "word"),
    [
        (TrainingProof.COMPLETE, "healthy"),
        (TrainingProof.AWAITED, "starting"),
        (TrainingProof.LACKING, "unknown"),
    ],
)
def test_a_running_job_is_as_healthy_as_its_evidence_proves(proof, word):
    assert health(a_job(), proof=Training(proof)) == word
    assert health(a_job(), "loss-spike", proof=Training(proof)) == "degraded"


@pytest.mark.parametrize(
    ("firing", "word"),
    [
        (["pending-too-long"], "degraded"),
        (["stalled-steps"], "degraded"),
        (["stalled-by-infrastructure"], "degraded"),
        (["late-checkpoints"], "degraded"),
        (["loss-spike"], "degraded"),
        (["not-finite"], "degraded"),
        (["late-tick", "full-disk", "stale-monitor", "clock-skew", "monitor-blind"], "healthy"),
        (["silent-tracker"], "unknown"),
        (["silent-tracker", "loss-spike"], "degraded"),
    ],
)
def test_what_fires_makes_a_live_run_ill(firing, word):
    assert health(a_job(), *firing) == word


@pytest.mark.parametrize(
    ("firing", "word"),
    [
        (["missing-artefacts"], "degraded"),
        (["ended-short"], "down"),
        (["stopped-short"], "down"),
        (["ended-short", "missing-artefacts"], "down"),
        (["loss-spike"], "finished"),
    ],
)
def test_at_a_good_end_only_what_is_missing_counts(firing, word):
    assert health(a_job(JobState.SUCCEEDED), *firing) == word


def test_what_is_pending_or_only_news_does_not_count():
    pending = [an_alert("stalled-steps", AlertState.PENDING)]
    (loss_spike,) = checks_named("loss-spike")
    news = {**BY_NAME, "loss-spike": replace(loss_spike, response="info")}

    assert condition(a_job(), COMPLETE_TRAINING, pending, BY_NAME) is RunHealth.HEALTHY
    assert (
        Severity.INFO == "info"
        and condition(a_job(), COMPLETE_TRAINING, [an_alert("loss-spike")], news)
        is RunHealth.HEALTHY
    )


@pytest.mark.parametrize("job", [None, Nothing(), Unavailable("squeue: time-out")])
def test_a_job_that_nobody_saw_is_unknown(job):
    assert health(job) == "unknown"


def test_no_progress_with_a_dead_owner_is_degraded_and_told_at_once():
    """The seed's row: several cadences without a step, and its log speaks of owner death."""
    still = {
        Metrics: some_metrics(advanced_at=NOON - 31 * MINUTE),
        JobLog: JobLog(wedges=("OwnerDiedError",)),
    }
    (turn,) = Story().ticks([still])

    assert turn.run is RunHealth.DEGRADED
    assert [type(action).__name__ for action in turn.actions] == ["Tell", "Escalate"]


# --- inhibition --------------------------------------------------------------------------------


def muted_by_state(state):
    return muted_topics({**healthy(Gate.HEALTH), Job: a_job(state)}, [], BY_NAME)


def checks_of_topics(*topics):
    return {check.name for check in BY_NAME.values() if check.topic in topics}


def test_an_ended_job_mutes_stalls_and_checkpoints_and_no_other():
    assert muted_by_state(JobState.FAILED) == {Topic.PROGRESS, Topic.CHECKPOINTS}
    assert {
        "stalled-steps",
        "stalled-by-infrastructure",
        "late-checkpoints",
        "stalled-checkpoints",
        "incomplete-checkpoint",
        "shrinking-rollback",
        "nothing-saved",
    } <= checks_of_topics(Topic.PROGRESS, Topic.CHECKPOINTS)
    assert "expiring-source" in checks_of_topics(Topic.JOB)  # nobody makes a newer one then


def test_a_pending_job_mutes_what_its_rows_would_say():
    assert muted_by_state(JobState.PENDING) >= {
        Topic.METRIC,
        Topic.NUMERIC,
        Topic.PROGRESS,
        Topic.CHECKPOINTS,
    }
    assert "pending-too-long" in checks_of_topics(Topic.JOB)


def test_the_monitors_own_ills_are_never_muted():
    monitor = {
        "late-tick",
        "full-disk",
        "filling-disk",
        "stale-monitor",
        "clock-skew",
        "silent-tracker",
    }

    assert monitor <= checks_of_topics(Topic.MONITOR)
    assert all(Topic.MONITOR not in muted_by_state(state) for state in JobState)


def test_no_check_fails_on_a_job_that_waits_for_its_hardware():
    waiting = a_job(JobState.PENDING, started=None, submitted=NOON - MINUTE, reason="Priority")
    failing = [
        check.name
        for check in checks(Gate.HEALTH)
        for verdict in answers(check, waiting, {Metrics: Nothing()})
        if verdict.outcome is Outcome.FAIL
    ]

    assert failing == []
    assert answer(BY_NAME["crashed"], waiting).outcome is Outcome.PASS
