import pytest

from builders import ROOT, TEMPORARY, a_checkpoint, a_crashed_job, a_history, a_job, answer
from herorun.checks.health.lost_output import lost_output
from herorun.core.check import Response
from herorun.core.evidence import Checkpoints, JobState, Nothing, Receipt, RootAtEnd, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

SAVED_HISTORY = a_history(most_saved=2, temporary_saved=150)
MISSING_ROOT = RootAtEnd(ROOT, False, TEMPORARY, True)
TEMPORARY_GONE = RootAtEnd(ROOT, True, TEMPORARY, False)
NONE, OLDER = Checkpoints(), Checkpoints((a_checkpoint(100),))


def test_a_root_that_is_lost_while_the_job_lives_is_reported_in_the_words_of_the_diagnosis():
    verdict = answer(lost_output, SAVED_HISTORY, MISSING_ROOT, NONE)

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "tiny-1")
    assert mentions(verdict.message, "tiny-1", "running", f"{ROOT}")
    (step,) = verdict.details
    assert mentions(step, f"{ROOT},")
    unreceipted_history = a_history(checked_in=frozenset({"tiny-1"}))
    assert (
        answer(lost_output, unreceipted_history, MISSING_ROOT, NONE, {Receipt: Nothing()}).outcome
        is Outcome.FAIL
    )


def test_so_is_the_temporary_root_with_what_nothing_else_holds():
    verdict = answer(lost_output, SAVED_HISTORY, TEMPORARY_GONE, OLDER)

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "tiny-1")
    assert mentions(verdict.message, "tiny-1", "running", f"temporary root {TEMPORARY}")
    newer = Checkpoints((a_checkpoint(200),))
    assert answer(lost_output, SAVED_HISTORY, TEMPORARY_GONE, newer).outcome is Outcome.PASS


@pytest.mark.parametrize("root", [RootAtEnd(ROOT), RootAtEnd(ROOT, True, TEMPORARY)])
def test_roots_that_are_there_pass(root):
    assert answer(lost_output, SAVED_HISTORY, root).outcome is Outcome.PASS


def test_a_young_job_has_written_nothing_yet():
    assert answer(lost_output, a_history(), MISSING_ROOT, NONE).outcome is Outcome.PASS


def test_a_root_that_could_not_be_read_is_unknown():
    assert (
        answer(lost_output, SAVED_HISTORY, {RootAtEnd: Unavailable("403")}).outcome
        is Outcome.UNKNOWN
    )


def test_of_an_ended_job_the_crash_tells_it():
    for job in (a_crashed_job(), a_job(JobState.SUCCEEDED)):
        assert (
            answer(lost_output, job, SAVED_HISTORY, MISSING_ROOT, NONE).outcome
            is Outcome.NOT_APPLICABLE
        )


def test_a_person_is_asked():
    assert lost_output.response is Response.ESCALATE
