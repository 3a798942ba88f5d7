from dataclasses import replace

from builders import FINAL, ROOT, TEMPORARY, a_checkpoint, answer
from herorun.checks.seal.incomplete_final_checkpoint import incomplete_final_checkpoint
from herorun.core.evidence import Checkpoints, FinalStep, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

GOOD = a_checkpoint(FINAL)
ROLLING = a_checkpoint(FINAL, TEMPORARY, temporary=True)
HALF = a_checkpoint(FINAL, problem="no metadata.json")


def ask(*candidates):
    return answer(incomplete_final_checkpoint, Checkpoints(candidates))


def test_a_complete_permanent_one_of_the_final_step_passes():
    assert ask(a_checkpoint(100), ROLLING, GOOD).message == f"{ROOT}/step-200 is complete"


def test_an_incomplete_one_fails_with_its_problem():
    assert mentions(ask(HALF).message, f"{ROOT}/step-200", "no metadata.json")
    assert ask(HALF).outcome is Outcome.FAIL


def test_a_temporary_one_is_not_enough():
    assert ask(ROLLING).outcome is Outcome.FAIL
    assert mentions(ask(HALF, ROLLING).message, "step-200", "temporary")


def test_another_step_is_not_enough():
    verdict = ask(a_checkpoint(100), a_checkpoint(FINAL + 1))

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, "200", "newest", f"{ROOT}", "/step-201")


def test_no_checkpoint_at_all_fails():
    assert mentions(ask().message, "complete")
    assert answer(incomplete_final_checkpoint, {Checkpoints: Nothing()}).outcome is Outcome.FAIL


def test_an_unknown_end_fails():
    assert (
        answer(incomplete_final_checkpoint, FinalStep(None, "nobody said")).outcome is Outcome.FAIL
    )


def test_an_unread_root_is_unknown():
    assert (
        answer(incomplete_final_checkpoint, {Checkpoints: Unavailable("403")}).outcome
        is Outcome.UNKNOWN
    )


def test_one_that_could_not_be_read_is_unknown():
    unread_checkpoint = replace(
        a_checkpoint(FINAL), problem="it could not be read: EIO", examined=False
    )

    verdict = answer(
        incomplete_final_checkpoint, Checkpoints((a_checkpoint(100), unread_checkpoint))
    )
    assert verdict.outcome is Outcome.UNKNOWN and "EIO" in verdict.message
