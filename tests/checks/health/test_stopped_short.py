from builders import FINAL, a_history, a_job, answer, some_metrics
from herorun.checks.health.stopped_short import stopped_short
from herorun.core.check import Severity
from herorun.core.evidence import Checkpoints, FinalStep, JobState
from herorun.core.finding import Outcome
from wording import mentions

STOPPED_HISTORY = a_history(stopped=(("tiny-1", "dri"),))
ENDED_JOB = a_job(JobState.SUCCEEDED)


def ask(*changes):
    return answer(
        stopped_short, ENDED_JOB, some_metrics(120), Checkpoints(), STOPPED_HISTORY, *changes
    )


def test_a_success_by_our_own_order_is_reported_with_its_step():
    verdict = ask()

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "tiny-1")
    assert mentions(verdict.message, "tiny-1", "stopped", "120 of", f"{FINAL}")
    assert mentions(ask(FinalStep(None)).message, "120;", "final step", "unknown")


def test_one_at_its_final_step_passes():
    assert ask(some_metrics(FINAL)).outcome is Outcome.PASS


def test_what_nobody_stopped_or_what_was_cut_off_is_another_matter():
    assert ask(a_history()).outcome is Outcome.NOT_APPLICABLE
    assert ask(a_job(JobState.CANCELLED)).outcome is Outcome.NOT_APPLICABLE
    assert ask(a_job()).outcome is Outcome.NOT_APPLICABLE


def test_it_is_only_shown():
    assert stopped_short.severity is Severity.INFO
