from dataclasses import replace
from datetime import timedelta

import pytest

from builders import (
    MINUTE,
    NOON,
    a_checkpoint,
    a_contract,
    a_history,
    a_job,
    answer,
    some_metrics,
)
from herorun.checks.health.unreported_steps import unreported_steps
from herorun.core.check import Hold
from herorun.core.evidence import Checkpoints, JobLog, JobState, Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

NO_ROWS = {Metrics: Nothing("no metrics file yet")}
WRONG = a_contract(tracker={"path": "elsewhere/metrics.jsonl"})


def saved_checkpoints(step, modified_at=NOON - MINUTE):
    return Checkpoints((replace(a_checkpoint(step), modified=modified_at),))


def test_rows_that_come_pass():
    assert mentions(answer(unreported_steps, saved_checkpoints(100)).message, "tiny-1", "steps")


def test_a_checkpoint_without_a_row_names_where_rows_are_looked_for():
    verdict = answer(unreported_steps, NO_ROWS, saved_checkpoints(250), WRONG)

    assert verdict.outcome is Outcome.FAIL and verdict.subject == "tiny-1"
    assert mentions(
        verdict.message, "tiny-1", "250 was", "11:59", "elsewhere/metrics.jsonl", "reports"
    )


def test_steps_in_the_log_count_and_the_runs_that_it_names_are_reported(notice):
    log = JobLog(step=7, runs=("team/moe/abc123",))
    verdict = answer(unreported_steps, NO_ROWS, log, Checkpoints())

    (detail,) = verdict.details
    assert verdict.outcome is Outcome.FAIL and detail == notice


def test_a_resume_that_prints_its_step_is_no_step():
    older = saved_checkpoints(500, NOON - timedelta(hours=3))

    assert answer(unreported_steps, NO_ROWS, JobLog(step=500), older).outcome is Outcome.PASS
    assert answer(unreported_steps, NO_ROWS, JobLog(step=501), older).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("step", "age", "outcome"),
    [
        (200, 10, Outcome.FAIL),  # the rows have stopped, and it has saved twice since
        (102, 10, Outcome.PASS),  # within two rows
        (200, 4, Outcome.PASS),  # rows of a slow tracker
    ],
)
def test_rows_that_stopped_count_once_they_are_behind(step, age, outcome):
    stopped_metrics = some_metrics(100, advanced_at=NOON - age * MINUTE)

    assert answer(unreported_steps, stopped_metrics, saved_checkpoints(step)).outcome is outcome


def test_without_a_sign_nothing_is_reported_and_what_was_not_read_is_unknown():
    assert answer(unreported_steps, NO_ROWS, Checkpoints()).outcome is Outcome.PASS
    assert (
        answer(unreported_steps, NO_ROWS, saved_checkpoints(9), a_job(JobState.FAILED)).outcome
        is Outcome.NOT_APPLICABLE
    )
    assert answer(unreported_steps, {Metrics: Unavailable("403")}).outcome is Outcome.UNKNOWN
    for absent, outcome in (
        (Nothing(), Outcome.NOT_APPLICABLE),
        (Unavailable("403"), Outcome.UNKNOWN),
    ):
        unread_evidence = {Checkpoints: absent, JobLog: absent}
        assert answer(unreported_steps, NO_ROWS, unread_evidence).outcome is outcome


def test_it_is_told_at_the_second_look():
    assert unreported_steps.hold == Hold(ticks=2)


def test_what_the_attempt_before_a_restart_by_the_back_end_left_is_no_sign():
    """Its checkpoint and its step in the log are of the launched instance, and not of the attempt
    that runs.
    """
    restarted_job = a_job(started=NOON - 2 * MINUTE)
    history = a_history(rows=40)
    rows = some_metrics(100, advanced_at=NOON - 5 * MINUTE)

    for log in (Nothing(), JobLog(step=110), JobLog(step=110, stepped_at=NOON - 4 * MINUTE)):
        before = saved_checkpoints(100, NOON - 4 * MINUTE)
        assert (
            answer(unreported_steps, restarted_job, history, rows, log, before).outcome
            is Outcome.PASS
        )
    own = saved_checkpoints(250, NOON - MINUTE)
    assert (
        answer(unreported_steps, WRONG, restarted_job, history, rows, own).outcome is Outcome.FAIL
    )


def test_rows_that_vanished_are_no_restart_where_no_start_is_known():
    unknown_start = a_job(started=None)
    for signs in (
        (WRONG, saved_checkpoints(250)),
        (JobLog(step=7, stepped_at=NOON - MINUTE), Checkpoints()),
    ):
        verdict = answer(unreported_steps, NO_ROWS, unknown_start, a_history(rows=40), *signs)
        assert verdict.outcome is Outcome.FAIL
