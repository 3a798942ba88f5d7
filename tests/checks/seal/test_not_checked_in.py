from builders import a_history, a_receipt, answer, answers
from herorun.checks.seal.not_checked_in import not_checked_in
from herorun.core.evidence import Nothing, Receipt, Unavailable
from herorun.core.finding import Outcome

NONE = {Receipt: Nothing()}


def test_a_receipt_of_every_instance_passes():
    assert (
        answer(
            not_checked_in, NONE, a_history(2, checked_in=frozenset({"tiny-1", "tiny-2"}))
        ).outcome
        is Outcome.PASS
    )
    assert answer(not_checked_in, a_receipt()).outcome is Outcome.PASS  # no tick has seen it yet


def test_each_instance_without_one_fails_by_its_name():
    verdicts = answers(not_checked_in, NONE, a_history(3, checked_in=frozenset({"tiny-2"})))

    assert [(v.outcome, v.subject) for v in verdicts] == [
        (Outcome.FAIL, "tiny-1"),
        (Outcome.FAIL, "tiny-3"),
    ]


def test_another_runs_receipt_is_none_of_ours():
    assert answer(not_checked_in, a_receipt("other-1")).outcome is Outcome.FAIL


def test_receipts_that_could_not_be_read_are_unknown():
    assert answer(not_checked_in, {Receipt: Unavailable("403")}).outcome is Outcome.UNKNOWN
