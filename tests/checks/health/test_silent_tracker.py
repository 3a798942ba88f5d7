from dataclasses import replace
from datetime import timedelta

import pytest

from builders import EVERY, MINUTE, NOON, a_checkpoint, a_history, a_job, answer, some_metrics
from herorun.checks.health.silent_tracker import silent_tracker
from herorun.checks.health.stalled_steps import stalled_steps
from herorun.core.check import Topic
from herorun.core.evidence import (
    Cadence,
    Checkpoints,
    JobLog,
    JobState,
    Metrics,
    Nothing,
    Unavailable,
)
from herorun.core.finding import Outcome
from wording import mentions

SECOND = timedelta(seconds=1)
LONG = a_job(started=NOON - timedelta(days=1))
GOES_ON = JobLog(changed_at=NOON - MINUTE)


def silent(idle, *changes, cadence=MINUTE, check=silent_tracker):
    return answer(check, LONG, some_metrics(advanced_at=NOON - idle), Cadence(cadence), *changes)


def saved_checkpoints(step, age):
    return Checkpoints((replace(a_checkpoint(step), modified=NOON - age),))


def test_a_run_that_reports_passes():
    assert answer(silent_tracker, GOES_ON).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("cadence", "limit"), [(MINUTE, 15 * MINUTE), (6 * MINUTE, 18 * MINUTE), (EVERY, 45 * MINUTE)]
)
def test_of_rows_without_times_the_limit_is_15_minutes_or_three_cadences(cadence, limit):
    assert silent(limit, GOES_ON, cadence=cadence).outcome is Outcome.PASS
    assert silent(limit + SECOND, GOES_ON, cadence=cadence).outcome is Outcome.FAIL


def test_of_rows_with_times_it_is_three_times_the_pause_that_comes_again():
    def after(minutes, **result):
        rows = some_metrics(advanced_at=NOON - minutes * MINUTE, **result)
        return answer(silent_tracker, LONG, rows, Cadence(EVERY), GOES_ON).outcome

    assert after(16, pause=20.0) is Outcome.FAIL
    assert after(35, pause=720.0) is Outcome.PASS
    assert after(37, pause=720.0) is Outcome.FAIL
    assert after(170, pause=20.0, step=200) is Outcome.PASS  # the last evaluation


def test_a_log_that_continues_makes_it_the_trackers_fault_and_no_stall():
    assert mentions(
        silent(20 * MINUTE, GOES_ON).message, "tiny-1", "20m", "changed", "11:59", "UTC"
    )
    assert silent(20 * MINUTE, GOES_ON, check=stalled_steps).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    "log", [JobLog(changed_at=NOON - 5 * MINUTE - SECOND), JobLog(), Nothing(), Unavailable("403")]
)
def test_a_log_that_stays_constant_or_is_out_of_sight_makes_it_a_stall(log):
    assert silent(20 * MINUTE, {JobLog: log}).outcome is Outcome.NOT_APPLICABLE
    assert silent(20 * MINUTE, {JobLog: log}, check=stalled_steps).outcome is Outcome.FAIL


def test_a_log_five_minutes_old_still_continues():
    assert silent(20 * MINUTE, JobLog(changed_at=NOON - 5 * MINUTE)).outcome is Outcome.FAIL
    assert (
        silent(20 * MINUTE, JobLog(changed_at=NOON - 5 * MINUTE), check=stalled_steps).outcome
        is Outcome.UNKNOWN
    )


def test_a_log_that_ended_with_the_rows_is_no_sign_of_life():
    assert (
        silent(16 * MINUTE, JobLog(changed_at=NOON - 15 * MINUTE)).outcome is Outcome.NOT_APPLICABLE
    )


def test_a_newer_checkpoint_is_a_sign_of_life():
    assert silent(90 * MINUTE, saved_checkpoints(120, 20 * MINUTE)).outcome is Outcome.FAIL
    assert (
        silent(90 * MINUTE, saved_checkpoints(120, 20 * MINUTE), check=stalled_steps).outcome
        is Outcome.UNKNOWN
    )
    # of the last row itself
    assert (
        silent(90 * MINUTE, saved_checkpoints(100, 20 * MINUTE)).outcome is Outcome.NOT_APPLICABLE
    )
    assert (
        silent(90 * MINUTE, saved_checkpoints(120, 120 * MINUTE)).outcome is Outcome.NOT_APPLICABLE
    )


@pytest.mark.parametrize(
    ("up", "outcome"), [(45 * MINUTE, Outcome.PASS), (45 * MINUTE + SECOND, Outcome.FAIL)]
)
def test_the_first_row_may_take_45_minutes(up, outcome):
    assert (
        answer(silent_tracker, a_job(started=NOON - up), {Metrics: Nothing()}, GOES_ON).outcome
        is outcome
    )


def test_what_cannot_be_seen_is_unknown_and_never_a_silence():
    assert answer(silent_tracker, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN
    assert answer(silent_tracker, a_job(JobState.UNKNOWN)).outcome is Outcome.UNKNOWN
    unset = a_job(started=None)
    assert (
        answer(silent_tracker, unset, a_history(0), {Metrics: Nothing()}).outcome is Outcome.UNKNOWN
    )
    assert silent(20 * MINUTE, a_job(JobState.FAILED), GOES_ON).outcome is Outcome.NOT_APPLICABLE


def test_it_is_about_the_monitor():
    assert silent_tracker.topic is Topic.MONITOR
