from builders import answer, answers
from herorun.checks.seal.unrecorded_patch import unrecorded_patch
from herorun.core.evidence import RecordedEdits, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def test_a_run_from_a_clean_tree_passes():
    assert mentions(answer(unrecorded_patch).message, "instance", "commit")


def test_each_instance_is_its_own_subject():
    recorded_edits = RecordedEdits(
        {"tiny-1": "commit 3f2a9c1d0"}, {"tiny-2": "it ran a changed checkout in place"}
    )
    subjects = [(v.subject, v.outcome) for v in answers(unrecorded_patch, recorded_edits)]
    assert subjects == [("tiny-2", Outcome.FAIL), ("tiny-1", Outcome.PASS)]


def test_a_remote_that_does_not_answer_is_unknown():
    assert (
        answer(unrecorded_patch, {RecordedEdits: Unavailable("time-out")}).outcome
        is Outcome.UNKNOWN
    )
