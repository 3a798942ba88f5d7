from datetime import timedelta

import pytest

from builders import MINUTE, NOON, a_history, a_job, answer, some_metrics
from herorun.checks.health.error_in_log import error_in_log
from herorun.checks.health.failing_log import failing_log
from herorun.core.check import Hold, Response
from herorun.core.evidence import Complaint, JobLog, JobState, Metrics, Nothing, Unavailable
from herorun.core.finding import Outcome

SECOND = timedelta(seconds=1)
HBM = Complaint(
    failure_class="hbm-exhaustion",
    weight="cause",
    line=812,
    excerpt="Program hbm requirement 16.30G",
    advice="Lower it.",
    since=NOON - 9 * MINUTE,
)
BUG = Complaint(
    failure_class="code-bug-small",
    weight="bug",
    line=40,
    excerpt="NameError: g",
    where="train.py:7",
    since=NOON - 9 * MINUTE,
)
PEER = Complaint(
    failure_class="network-collective",
    weight="symptom",
    line=3,
    excerpt="Watchdog caught collective timeout",
    since=NOON,
)


def complaining(*complaints, idle=3 * MINUTE, check=failing_log, rows=None, **job):
    running = a_job(**{"started": NOON - timedelta(days=1), **job})
    metrics = rows or some_metrics(advanced_at=NOON - idle)
    evidence = metrics if isinstance(metrics, dict) else {Metrics: metrics}
    return answer(check, running, evidence, JobLog(complaints=complaints))


def test_an_exhausted_memory_and_no_step_for_more_than_two_minutes():
    late = Complaint(**{**vars(HBM), "since": NOON})

    assert complaining(late, idle=2 * MINUTE).outcome is Outcome.PASS
    assert complaining(late, idle=2 * MINUTE + SECOND).outcome is Outcome.FAIL


def test_it_says_where_and_what_to_do():
    text = (
        "tiny-1 has made no step for 20m, more than the limit of 2m; its error: hbm-exhaustion in "
        "line 812 of its log: Program hbm requirement 16.30G. Lower it."
    )

    assert complaining(HBM, idle=20 * MINUTE).message == text
    assert "train.py:7" in complaining(BUG, idle=20 * MINUTE).message


@pytest.mark.parametrize("check", [failing_log, error_in_log])
def test_a_step_that_came_a_minute_after_the_line_says_that_it_was_survived(check):
    assert complaining(HBM, idle=8 * MINUTE - SECOND, check=check).outcome is Outcome.PASS
    assert complaining(HBM, idle=8 * MINUTE, check=check).outcome is Outcome.FAIL


def test_an_exception_may_have_been_caught_so_the_next_row_has_its_time():
    """An evaluation that lets rows stay away for 10m again and again may take three times that."""
    pausing = some_metrics(advanced_at=NOON - 29 * MINUTE, pause=600.0)

    assert complaining(BUG, rows=pausing).outcome is Outcome.PASS
    assert (
        complaining(BUG, idle=44 * MINUTE).outcome is Outcome.PASS
    )  # three cadences, where rows tell no pause
    assert complaining(BUG, idle=46 * MINUTE).outcome is Outcome.FAIL


def test_before_the_first_row_the_job_has_not_moved_since_it_began():
    assert (
        complaining(HBM, rows={Metrics: Nothing()}, started=NOON - 3 * MINUTE).outcome
        is Outcome.FAIL
    )
    assert (
        complaining(BUG, rows={Metrics: Nothing()}, started=NOON - 14 * MINUTE).outcome
        is Outcome.PASS
    )


def test_what_another_rank_may_have_caused_is_only_told():
    assert complaining(PEER, idle=50 * MINUTE).outcome is Outcome.PASS
    assert complaining(PEER, idle=MINUTE, check=error_in_log).outcome is Outcome.FAIL


def test_the_one_that_explains_most_is_named():
    assert "hbm-exhaustion" in complaining(PEER, BUG, HBM, check=error_in_log).message


@pytest.mark.parametrize("check", [failing_log, error_in_log])
@pytest.mark.parametrize(
    "failure_class", ["preemption", "host-contention", "capacity", "not-a-failure", "unknown"]
)
def test_what_ends_no_training_by_itself_is_no_failing_log(check, failure_class):
    other = Complaint(
        failure_class=failure_class, weight="cause", line=3, excerpt="said", since=NOON
    )

    assert complaining(other, idle=50 * MINUTE, check=check).outcome is Outcome.PASS


@pytest.mark.parametrize("check", [failing_log, error_in_log])
def test_a_job_that_does_not_run_or_cannot_be_seen(check):
    log = JobLog(complaints=(HBM,))

    assert answer(check, a_job(JobState.FAILED), log).outcome is Outcome.NOT_APPLICABLE
    assert answer(check, a_job(JobState.GONE), log).outcome is Outcome.UNKNOWN
    assert answer(check, {JobLog: Nothing()}).outcome is Outcome.NOT_APPLICABLE


def test_an_error_in_a_job_whose_start_is_unknown_is_not_survived():
    unknown_start = (a_history(0), {Metrics: Nothing()}, JobLog(complaints=(HBM,)))

    verdict = answer(failing_log, a_job(started=None), *unknown_start)
    assert verdict.outcome is Outcome.UNKNOWN


def test_without_rows_to_look_at_it_is_reported_and_not_judged():
    blind = {Metrics: Unavailable("503")}

    assert complaining(HBM, rows=blind).outcome is Outcome.UNKNOWN
    assert complaining(HBM, rows=blind, check=error_in_log).outcome is Outcome.FAIL


def test_both_are_reported_at_once_and_the_failing_one_asks_the_dri():
    assert (failing_log.response, failing_log.hold) == (Response.ESCALATE, Hold())
    assert (error_in_log.response, error_in_log.hold) == (Response.WARN, Hold())
