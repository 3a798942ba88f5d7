from builders import COMMIT, answer
from herorun.checks.seal.unpushed_logbook import unpushed_logbook
from herorun.core.evidence import RecordState, Unavailable
from herorun.core.finding import Outcome

OLDER = "0" * 40


def test_a_pushed_record_passes():
    assert answer(unpushed_logbook).message == "record commit 3f2a9c1d0 is on origin"


def test_a_remote_that_is_behind_fails_and_names_both():
    verdict = answer(unpushed_logbook, RecordState(COMMIT, OLDER, "origin"))

    assert verdict.outcome is Outcome.FAIL
    assert "3f2a9c1d0" in verdict.message and "000000000" in verdict.message


def test_a_remote_without_it_fails():
    assert (
        "nothing on origin" in answer(unpushed_logbook, RecordState(COMMIT, None, "origin")).message
    )


def test_no_remote_is_another_checks_question():
    verdict = answer(unpushed_logbook, RecordState(COMMIT, None))

    assert verdict.outcome is Outcome.NOT_APPLICABLE
    assert verdict.message.endswith("see no-remote")


def test_no_record_fails():
    assert answer(unpushed_logbook, RecordState(None, None, "origin")).outcome is Outcome.FAIL


def test_a_remote_that_does_not_answer_is_unknown():
    assert (
        answer(unpushed_logbook, {RecordState: Unavailable("time-out")}).outcome is Outcome.UNKNOWN
    )
