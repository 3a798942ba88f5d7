from datetime import timedelta

import pytest

from builders import EVERY, MINUTE, NOON, a_history, a_job, an_instance, answer, some_metrics
from herorun.checks.health.stalled_steps import Limits, stalled_steps
from herorun.core.evidence import (
    Cadence,
    FinalStep,
    Job,
    JobLog,
    JobState,
    Metrics,
    Nothing,
    Unavailable,
)
from herorun.core.finding import Outcome
from wording import mentions

SECOND = timedelta(seconds=1)
LONG_RUNNING = a_job(started=NOON - timedelta(days=1))


def after(idle, cadence=MINUTE, limits=None, pause=None, **job):
    """The newest row is `idle` old, in a job that started long before."""
    metrics = some_metrics(advanced_at=NOON - idle, pause=pause)
    running = a_job(**{"started": NOON - timedelta(days=1), **job})
    return answer(stalled_steps, running, metrics, Cadence(cadence), limits=limits)


def before_the_first_row(running_for, limits=None):
    return answer(
        stalled_steps, a_job(started=NOON - running_for), {Metrics: Nothing()}, limits=limits
    )


def test_a_run_that_advances_passes():
    assert mentions(answer(stalled_steps).message, "tiny-1", "100", "20s", "limit", "45m")


@pytest.mark.parametrize(
    ("cadence", "limit"),
    [
        (timedelta(seconds=1), 15 * MINUTE),
        (5 * MINUTE, 15 * MINUTE),
        (6 * MINUTE, 18 * MINUTE),
        (EVERY, 3 * EVERY),
    ],
)
def test_of_rows_without_times_the_limit_is_15_minutes_or_three_cadences(cadence, limit):
    assert after(limit, cadence).outcome is Outcome.PASS
    assert after(limit + SECOND, cadence).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("pause", "limit"),
    [(20, 15), (300, 15), (360, 18), (12 * 60, 36), (40 * 60, 120), (9 * 3600, 120)],
)
def test_of_rows_with_times_it_is_three_times_the_pause_that_comes_again_whatever_the_cadence(
    pause, limit
):
    assert after(limit * MINUTE, EVERY, pause=pause).outcome is Outcome.PASS
    assert after(limit * MINUTE + SECOND, EVERY, pause=pause).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("step", "hours", "outcome"), [(200, 3, Outcome.PASS), (199, 1, Outcome.FAIL)]
)
def test_behind_the_final_step_the_last_evaluation_may_take_three_hours(step, hours, outcome):
    stale = some_metrics(step, advanced_at=NOON - timedelta(hours=hours), pause=20.0)

    assert answer(stalled_steps, LONG_RUNNING, stale).outcome is outcome
    late = some_metrics(200, advanced_at=NOON - timedelta(hours=3) - SECOND, pause=20.0)
    assert answer(stalled_steps, LONG_RUNNING, late).outcome is Outcome.FAIL
    assert answer(stalled_steps, LONG_RUNNING, late, FinalStep(None)).outcome is Outcome.FAIL


def test_it_says_how_long_and_at_which_step():
    verdict = after(16.5 * MINUTE)

    assert mentions(verdict.message, "tiny-1", "100", "16m", "limit", "15m")
    assert verdict.subject == "tiny-1"


@pytest.mark.parametrize(("minutes", "outcome"), [(2, Outcome.UNKNOWN), (59, Outcome.FAIL)])
def test_a_log_that_still_grows_makes_it_unknown_and_both_times_are_named(minutes, outcome):
    hung = some_metrics(advanced_at=NOON - 60 * MINUTE)
    log = JobLog(changed_at=NOON - minutes * MINUTE)
    verdict = answer(stalled_steps, LONG_RUNNING, hung, log)

    assert verdict.outcome is outcome and verdict.subject == "tiny-1"
    assert mentions(verdict.message, "tiny-1", "100", "1h", "45m")
    assert mentions(verdict.message, "log", "11:58") is (outcome is Outcome.UNKNOWN)


def test_each_limit_is_the_contracts():
    tight = Limits(idle=timedelta(seconds=5), cadences=2, startup=timedelta(seconds=30))

    assert after(6 * SECOND, SECOND, tight).outcome is Outcome.FAIL
    assert after(9 * SECOND, 4 * SECOND, tight).outcome is Outcome.FAIL
    assert after(8 * SECOND, 4 * SECOND, tight).outcome is Outcome.PASS
    assert before_the_first_row(31 * SECOND, tight).outcome is Outcome.FAIL


def test_before_the_first_row_the_startup_budget_counts():
    assert before_the_first_row(45 * MINUTE).outcome is Outcome.PASS
    assert before_the_first_row(45 * MINUTE + SECOND).outcome is Outcome.FAIL
    assert mentions(before_the_first_row(50 * MINUTE).message, "step")


def test_an_earlier_instances_rows_do_not_count():
    started_job = a_job(started=NOON - 20 * MINUTE)
    old = some_metrics(advanced_at=NOON - 10 * EVERY)

    assert answer(stalled_steps, started_job, old, Cadence(MINUTE)).outcome is Outcome.PASS


def test_a_scheduler_without_a_start_time_goes_by_the_record():
    launched_history = a_history(instances=(an_instance(started=NOON - 46 * MINUTE),))
    unset = a_job(started=None)

    assert (
        answer(stalled_steps, unset, launched_history, {Metrics: Nothing()}).outcome is Outcome.FAIL
    )
    assert (
        answer(stalled_steps, unset, a_history(0), {Metrics: Nothing()}).outcome is Outcome.UNKNOWN
    )


@pytest.mark.parametrize(
    "state", [s for s in JobState if s is not JobState.RUNNING and not s.in_doubt]
)
def test_a_job_that_does_not_run_is_not_applicable(state):
    stale = some_metrics(advanced_at=NOON - timedelta(days=2))

    assert answer(stalled_steps, a_job(state), stale).outcome is Outcome.NOT_APPLICABLE


def test_clocks_that_differ_are_reported():
    assert after(-60 * SECOND).details == ()
    verdict = after(-61 * SECOND)

    assert verdict.outcome is Outcome.PASS
    (detail,) = verdict.details
    assert mentions(detail, "1m1s", "future", "clocks")


def test_what_could_not_be_read_is_unknown():
    assert answer(stalled_steps, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN
    assert answer(stalled_steps, {Job: Unavailable("time-out")}).outcome is Outcome.UNKNOWN
    assert answer(stalled_steps, a_job(JobState.UNKNOWN)).outcome is Outcome.UNKNOWN
    assert answer(stalled_steps, a_job(JobState.GONE)).outcome is Outcome.UNKNOWN


def test_a_scheduler_whose_clock_is_hours_ahead_hides_no_hang():
    """Its start lies in the future: the record's own counts, and the rows since are the job's."""
    ahead = a_job(started=NOON + timedelta(hours=2))
    hung = some_metrics(advanced_at=NOON - 50 * MINUTE, pause=20.0)

    assert mentions(answer(stalled_steps, ahead, hung).message, "tiny-1", "100", "50m")
    assert answer(stalled_steps, ahead, hung).outcome is Outcome.FAIL
    assert (
        answer(stalled_steps, ahead, {Metrics: Nothing()}).outcome is Outcome.FAIL
    )  # 60 min, and no step yet


def test_a_scheduler_whose_clock_is_hours_behind_makes_no_older_row_the_jobs():
    behind = a_job(instance="tiny-2", started=NOON - timedelta(hours=3))
    history = a_history(
        instances=(
            an_instance(),
            an_instance(2, intended=NOON - 5 * MINUTE, started=NOON - 5 * MINUTE),
        )
    )
    older = some_metrics(advanced_at=NOON - 30 * MINUTE, pause=20.0)

    starting = answer(stalled_steps, behind, history, older)
    assert starting.outcome is Outcome.PASS and mentions(starting.message, "tiny-2", "step", "5m")


@pytest.mark.parametrize(
    ("rows", "outcome"), [(1000, Outcome.UNKNOWN), (900, Outcome.FAIL), (0, Outcome.FAIL)]
)
def test_rows_that_were_read_and_are_gone_are_not_a_job_without_a_step(rows, outcome):
    """A rotation that the tick fell into: the trainer's next row makes the file again."""
    history = a_history(instances=(an_instance(rows=900),), rows=rows)
    running = a_job(started=NOON - timedelta(hours=1))
    verdict = answer(stalled_steps, running, {Metrics: Nothing()}, history)
    assert verdict.outcome is outcome
