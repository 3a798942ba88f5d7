"""What proves that a running job trains, which evidence is awaited, and until when."""

from datetime import timedelta

import pytest

from builders import MINUTE, NOON, a_history, a_job, a_receipt, healthy, some_metrics
from herorun.core.check import Gate
from herorun.core.evidence import (
    Cadence,
    Checkpoints,
    FinalStep,
    History,
    Job,
    JobLog,
    JobState,
    Metrics,
    Nothing,
    Receipt,
    Unavailable,
)
from herorun.core.health.liveness import FRESH, RowPatience
from herorun.core.health.training_proof import QUEUE, TrainingProof, fresh_for, training

PATIENCE = RowPatience()
COMPLETE, PROOF_AWAITED, LACKING = TrainingProof


def judge_training(*changes, receipt_due=True):
    """The proof, and each awaited piece of evidence with its time limit."""
    evidence = healthy(Gate.HEALTH) | {type(value): value for value in changes}
    state = training(evidence, NOON, receipt_due)
    return state.proof, [(each.evidence, each.until) for each in state.awaited]


def unavailable(kind):
    state = training(healthy(Gate.HEALTH) | {kind: Unavailable("timeout")}, NOON, True)
    return state.proof, [each.evidence for each in state.awaited]


def test_a_recent_row_and_a_receipt_prove_training():
    assert judge_training(some_metrics(pause=60.0)) == (COMPLETE, [])


@pytest.mark.parametrize("state", [state for state in JobState if state.in_doubt])
def test_a_job_in_an_unknown_state_proves_nothing(state):
    assert judge_training(a_job(state)) == (LACKING, [("job", None)])


def test_without_a_job_nothing_is_proven():
    for answer in (Nothing(), Unavailable("timeout")):
        state = training(healthy(Gate.HEALTH) | {Job: answer}, NOON, True)
        assert (state.proof, [each.evidence for each in state.awaited]) == (LACKING, ["job"])


def test_a_pending_job_is_awaited_for_as_long_as_a_queue_may_take():
    pending = a_job(JobState.PENDING, submitted=NOON - MINUTE)

    assert judge_training(pending) == (PROOF_AWAITED, [("job", NOON - MINUTE + QUEUE)])
    assert judge_training(a_job(JobState.PENDING, submitted=None)) == (
        PROOF_AWAITED,
        [("job", None)],
    )


def test_the_message_on_a_pending_job_names_its_instance_and_reason():
    pending = a_job(JobState.PENDING, reason="Priority")
    (awaited_evidence,) = training(healthy(Gate.HEALTH) | {Job: pending}, NOON, True).awaited

    assert "tiny-1" in awaited_evidence.message
    assert "Priority" in awaited_evidence.message


def test_an_ended_job_awaits_only_a_receipt():
    ended_job, other = a_job(JobState.FAILED), a_receipt("tiny-0")

    assert judge_training(ended_job, other) == (COMPLETE, [("receipt", None)])
    assert judge_training(ended_job, other, receipt_due=False) == (COMPLETE, [])


@pytest.mark.parametrize(
    ("kind", "evidence"),
    [(Metrics, "row"), (Receipt, "receipt"), (JobLog, "log"), (Checkpoints, "checkpoint")],
)
def test_evidence_that_could_not_be_read_proves_nothing(kind, evidence):
    proof, awaited_evidence = unavailable(kind)

    assert proof is LACKING
    assert awaited_evidence[0] == evidence
    assert len(awaited_evidence) == len(set(awaited_evidence))


def test_a_receipt_that_is_not_due_need_not_be_readable():
    evidence = healthy(Gate.HEALTH) | {
        Receipt: Unavailable("timeout"),
        Metrics: some_metrics(pause=60.0),
    }

    assert training(evidence, NOON, False).proof is COMPLETE


def test_a_check_in_on_record_replaces_the_receipt():
    history = a_history(checked_in=frozenset({"tiny-1"}))

    assert judge_training(some_metrics(pause=60.0), history, a_receipt("tiny-0")) == (COMPLETE, [])


def test_without_the_record_no_row_can_be_attributed():
    evidence = healthy(Gate.HEALTH) | {History: Unavailable("locked")}
    state = training(evidence, NOON, True)

    assert (state.proof, [each.evidence for each in state.awaited]) == (LACKING, ["row"])


@pytest.mark.parametrize(("seconds", "awaited_evidence"), [(60, []), (61, [("row", None)])])
def test_a_row_dated_in_the_future_beyond_the_skew_proves_nothing(seconds, awaited_evidence):
    rows = some_metrics(pause=60.0, advanced_at=NOON + timedelta(seconds=seconds))

    assert judge_training(rows) == (LACKING if awaited_evidence else COMPLETE, awaited_evidence)


@pytest.mark.parametrize(
    ("pause", "limit"),
    [
        (None, PATIENCE.idle),
        (1.0, FRESH),
        (600.0, timedelta(seconds=1800)),
        (86400.0, PATIENCE.max_idle),
    ],
)
def test_how_old_the_newest_row_may_be_follows_the_pauses_before(pause, limit):
    assert fresh_for(some_metrics(pause=pause), PATIENCE) == limit


def test_an_old_row_is_awaited_until_the_stall_check_would_fail():
    old = NOON - 40 * MINUTE
    rows = some_metrics(pause=600.0, advanced_at=old)

    assert judge_training(rows) == (LACKING, [("row", old + timedelta(seconds=1800))])
    assert judge_training(rows, Cadence(MINUTE)) == (
        LACKING,
        [("row", old + timedelta(seconds=1800))],
    )


def test_an_old_row_of_the_final_step_awaits_the_end_of_the_job():
    old = NOON - 40 * MINUTE
    rows = some_metrics(200, pause=60.0, advanced_at=old)

    assert judge_training(rows, FinalStep(200, "tiny.toml")) == (
        LACKING,
        [("row", old + PATIENCE.closing_time)],
    )


def test_an_undated_row_awaits_the_next_one():
    rows = some_metrics(undated=True)

    assert judge_training(rows) == (PROOF_AWAITED, [("row", rows.advanced_at + PATIENCE.idle)])


def test_a_young_job_awaits_its_first_row_and_an_old_one_lacks_it():
    start = NOON - 60 * MINUTE
    young = a_job(started=NOON - MINUTE)
    no_rows = {Metrics: Nothing(), Job: a_job(started=start)}
    old = training(healthy(Gate.HEALTH) | no_rows, NOON, True)
    new = training(healthy(Gate.HEALTH) | no_rows | {Job: young}, NOON, True)

    assert (old.proof, old.awaited[0].until) == (LACKING, start + PATIENCE.startup)
    assert (new.proof, new.awaited[0].until) == (PROOF_AWAITED, NOON - MINUTE + PATIENCE.startup)


def test_a_log_that_reports_steps_without_a_row_is_no_start_up():
    evidence = healthy(Gate.HEALTH) | {
        Metrics: Nothing(),
        Job: a_job(started=NOON - MINUTE),
        Checkpoints: Nothing(),
        JobLog: JobLog(step=3),
    }
    state = training(evidence, NOON, True)

    assert (state.proof, [(e.evidence, e.until) for e in state.awaited]) == (
        LACKING,
        [("row", None)],
    )
