from builders import COMMIT, answer
from herorun.checks.seal.unpushed_record import unpushed_record
from herorun.core.evidence import RecordState, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

OLDER = "0" * 40


def test_a_pushed_record_passes():
    verdict = answer(unpushed_record)
    assert verdict.outcome is Outcome.PASS and mentions(verdict.message, "3f2a9c1d0", "origin")


def test_a_remote_that_is_behind_fails_and_names_both():
    verdict = answer(unpushed_record, RecordState(COMMIT, OLDER, "origin"))

    assert verdict.outcome is Outcome.FAIL
    assert "3f2a9c1d0" in verdict.message and "000000000" in verdict.message


def test_a_remote_without_it_fails():
    verdict = answer(unpushed_record, RecordState(COMMIT, None, "origin"))
    assert verdict.outcome is Outcome.FAIL and mentions(verdict.message, "nothing", "origin")


def test_no_remote_is_another_checks_question():
    verdict = answer(unpushed_record, RecordState(COMMIT, None))

    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert verdict.message.endswith("see no-remote")


def test_no_record_fails():
    assert answer(unpushed_record, RecordState(None, None, "origin")).outcome is Outcome.FAIL


def test_a_remote_that_does_not_answer_is_unknown():
    assert (
        answer(unpushed_record, {RecordState: Unavailable("time-out")}).outcome is Outcome.UNKNOWN
    )
