from builders import a_crashed_job, a_history, a_job, answer
from herorun.checks.health.stopped_by_hand import stopped_by_hand
from herorun.core.evidence import Job, JobState, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def test_a_running_job_and_a_crashed_one_pass():
    assert answer(stopped_by_hand).outcome is Outcome.PASS
    assert answer(stopped_by_hand, a_crashed_job()).outcome is Outcome.PASS


def test_a_cancelled_one_fails_and_says_by_whom():
    assert mentions(
        answer(stopped_by_hand, a_job(JobState.CANCELLED, stopped_by="ada@here")).message,
        "tiny-1",
        "stopped",
        "ada@here",
    )
    assert answer(stopped_by_hand, a_job(JobState.CANCELLED)).outcome is Outcome.FAIL


def test_a_stop_that_herorun_was_ordered_is_no_news():
    ordered_history = a_history(stopped=(("tiny-1", "Dri"),))

    verdict = answer(stopped_by_hand, a_job(JobState.CANCELLED), ordered_history)
    assert verdict.outcome is Outcome.NOT_APPLICABLE and "Dri" in verdict.message
    other = a_history(stopped=(("tiny-0", "Dri"),))
    assert answer(stopped_by_hand, a_job(JobState.CANCELLED), other).outcome is Outcome.FAIL


def test_what_the_scheduler_blames_on_something_else_was_nobody():
    preempted_job = a_job(JobState.CANCELLED, reason="preempted by a higher priority")

    assert answer(stopped_by_hand, preempted_job).outcome is Outcome.PASS
    by_ada = a_job(JobState.CANCELLED, reason="time limit", stopped_by="ada@here")
    assert answer(stopped_by_hand, by_ada).outcome is Outcome.FAIL


def test_it_holds_a_relaunch_back():
    assert stopped_by_hand.vetoes_relaunch


def test_what_the_scheduler_cannot_say_is_unknown():
    assert answer(stopped_by_hand, a_job(JobState.UNKNOWN)).outcome is Outcome.UNKNOWN
    assert answer(stopped_by_hand, a_job(JobState.GONE)).outcome is Outcome.UNKNOWN
    assert answer(stopped_by_hand, {Job: Unavailable("time-out")}).outcome is Outcome.UNKNOWN
    assert answer(stopped_by_hand, {Job: Nothing()}).outcome is Outcome.NOT_APPLICABLE
