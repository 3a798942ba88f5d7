from builders import a_job, a_receipt, answer
from herorun.checks.health.refused_at_check_in import refused_at_check_in
from herorun.core.evidence import Job, JobState, Nothing, Receipt, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

REFUSED_JOB = a_job(JobState.FAILED, exit_code=78)
ITEMS = (("argv", "pass", "as admitted"), ("output-root", "fail", "is /b, but /a was admitted"))


def test_a_job_that_checked_in_passes():
    assert answer(refused_at_check_in).outcome is Outcome.PASS


def test_no_receipt_yet_says_nothing():
    assert answer(refused_at_check_in, {Receipt: Nothing()}).outcome is Outcome.NOT_APPLICABLE


def test_a_failed_receipt_names_its_items():
    verdict = answer(refused_at_check_in, a_receipt(outcome="fail", items=ITEMS))

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "tiny-1", "check-in", "output-root", "/b", "/a", "admitted")


def test_the_exit_code_is_enough():
    assert answer(refused_at_check_in, REFUSED_JOB, {Receipt: Nothing()}).outcome is Outcome.FAIL
    assert (
        answer(refused_at_check_in, REFUSED_JOB, {Receipt: Unavailable("403")}).outcome
        is Outcome.FAIL
    )


def test_an_earlier_instances_receipt_does_not_count():
    stale = a_receipt("tiny-0", "fail", items=ITEMS)

    assert answer(refused_at_check_in, stale).outcome is Outcome.NOT_APPLICABLE


def test_what_could_not_be_read_is_unknown():
    assert answer(refused_at_check_in, {Receipt: Unavailable("403")}).outcome is Outcome.UNKNOWN
    assert answer(refused_at_check_in, {Job: Unavailable("time-out")}).outcome is Outcome.UNKNOWN
    assert answer(refused_at_check_in, a_job(JobState.UNKNOWN)).outcome is Outcome.UNKNOWN
    assert answer(refused_at_check_in, a_job(JobState.GONE)).outcome is Outcome.UNKNOWN


def test_it_holds_a_relaunch_back():
    assert refused_at_check_in.vetoes_relaunch
