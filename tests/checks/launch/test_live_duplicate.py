from builders import a_job, answer, answers
from herorun.checks.launch.live_duplicate import live_duplicate
from herorun.core.check import AtRelaunch
from herorun.core.evidence import JobState, LiveJobs, OpenLaunch, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def test_no_job_passes():
    assert answer(live_duplicate).outcome is Outcome.PASS


def test_every_live_job_is_named():
    unknown_job = a_job(JobState.UNKNOWN, "tiny-2", reason="recorded, and not known here")
    jobs = LiveJobs((unknown_job, a_job(JobState.RUNNING, "tiny-1")))
    first, second = answers(live_duplicate, jobs)

    assert (first.subject, first.outcome) == ("tiny-1", Outcome.FAIL)
    assert mentions(first.message, "running", "job-tiny-1")
    assert (second.subject, second.outcome) == ("tiny-2", Outcome.FAIL)
    assert mentions(second.message, "tiny-2", "job-tiny-2", "known")


def test_a_scheduler_that_does_not_answer_is_unknown():
    assert (
        answer(live_duplicate, {LiveJobs: Unavailable("squeue: time-out")}).outcome
        is Outcome.UNKNOWN
    )


def test_it_is_asked_at_a_relaunch_too():
    assert live_duplicate.at_relaunch is AtRelaunch.BLOCK


def test_a_launch_that_an_earlier_scheduler_does_not_settle_is_unknown():
    launch = OpenLaunch("tiny-1", why="box1 refuses the connection")
    (verdict,) = answers(live_duplicate, launch)

    assert (verdict.outcome, verdict.subject) == (Outcome.UNKNOWN, "tiny-1")
    assert mentions(verdict.message, "tiny-1", "box1")


def test_a_launch_that_runs_under_an_earlier_scheduler_is_a_duplicate():
    (verdict,) = answers(live_duplicate, OpenLaunch("tiny-1", a_job(JobState.RUNNING, "tiny-1")))

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "tiny-1")
