from builders import a_job, answer, answers
from herorun.checks.seal.surviving_job import surviving_job
from herorun.core.evidence import JobState, LiveJobs, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def test_no_job_that_lives_passes():
    assert answer(surviving_job).outcome is Outcome.PASS


def test_each_living_job_is_its_own_subject():
    live = LiveJobs((a_job(instance="tiny-1"), a_job(JobState.PENDING, instance="tiny-2")))
    outcomes = [(v.outcome, v.message) for v in answers(surviving_job, live)]
    assert outcomes == [(Outcome.FAIL, "tiny-1 is running"), (Outcome.FAIL, "tiny-2 is pending")]


def test_a_gang_that_lives_next_to_its_coordinators_success_fails():
    verdict = answer(surviving_job, a_job(JobState.SUCCEEDED, tasks=8, running_tasks=3))
    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "tiny-1", "succeeded", "3 of 8")


def test_a_job_that_nobody_can_report_is_unknown():
    unknown_job = a_job(JobState.UNKNOWN, instance="tiny-1", reason="not known here")
    assert answer(surviving_job, LiveJobs((unknown_job,))).outcome is Outcome.UNKNOWN
    assert answer(surviving_job, {LiveJobs: Unavailable("time-out")}).outcome is Outcome.UNKNOWN
