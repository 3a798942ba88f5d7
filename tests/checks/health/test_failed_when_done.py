from builders import a_checkpoint, a_crashed_job, a_job, answer
from herorun.checks.health.failed_when_done import failed_when_done
from herorun.core.check import Response
from herorun.core.evidence import Checkpoints, JobState, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

FINAL_CHECKPOINTS = Checkpoints((a_checkpoint(200),))


def test_a_failure_behind_the_final_checkpoint_is_reported():
    verdict = answer(failed_when_done, a_crashed_job(), FINAL_CHECKPOINTS)

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "tiny-1")
    assert mentions(verdict.message, "final", "/data/tiny/step-200")


def test_any_other_end_is_not_its_matter():
    assert answer(failed_when_done, a_crashed_job()).outcome is Outcome.NOT_APPLICABLE
    assert answer(failed_when_done, a_job(), FINAL_CHECKPOINTS).outcome is Outcome.NOT_APPLICABLE
    assert (
        answer(failed_when_done, a_job(JobState.SUCCEEDED), FINAL_CHECKPOINTS).outcome
        is Outcome.NOT_APPLICABLE
    )


def test_what_could_not_be_read_is_unknown():
    unread_evidence = {Checkpoints: Unavailable("403")}

    assert answer(failed_when_done, a_crashed_job(), unread_evidence).outcome is Outcome.UNKNOWN


def test_it_warns():
    assert failed_when_done.response is Response.WARN
