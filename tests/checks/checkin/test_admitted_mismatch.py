from builders import answer, answers
from herorun.checks.checkin.admitted_mismatch import admitted_mismatch
from herorun.core.check import Gate, evaluate
from herorun.core.evidence import Admitted, Nothing, Unavailable
from herorun.core.finding import Outcome
from herorun.core.gate_findings import GateVerdict, verdict_of


def gate(*items):
    findings = evaluate([admitted_mismatch], {Admitted: Admitted(items)})
    return verdict_of(findings, {"admitted-mismatch": admitted_mismatch})


def test_all_as_admitted_passes():
    verdicts = answers(admitted_mismatch)

    assert admitted_mismatch.gate is Gate.CHECKIN
    assert [(v.subject, v.outcome) for v in verdicts] == [
        ("argv", Outcome.PASS),
        ("code", Outcome.PASS),
    ]


def test_a_difference_fails_under_its_item():
    message = "is /b, but /a was admitted"
    verdict = answer(admitted_mismatch, Admitted((("output-root", "fail", message),)))

    assert verdict.outcome is Outcome.FAIL
    assert (verdict.subject, verdict.message) == ("output-root", f"output-root {message}")


def test_only_a_difference_refuses():
    unshown_item = ("tracker-id", "unknown", "not shown")

    assert gate(("argv", "pass", "as admitted")) is GateVerdict.CLEAR
    assert gate(unshown_item) is GateVerdict.UNKNOWN
    assert gate(unshown_item, ("argv", "fail", "runs b, but a was admitted")) is GateVerdict.BLOCKED


def test_a_word_that_nobody_knows_is_no_pass():
    verdict = answer(admitted_mismatch, Admitted((("argv", "fine", "runs b"),)))

    assert verdict.outcome is Outcome.UNKNOWN


def test_nothing_compared_is_no_pass():
    assert answer(admitted_mismatch, Admitted()).outcome is Outcome.UNKNOWN


def test_no_receipt_yet_is_not_applicable_and_an_unread_one_unknown():
    assert answer(admitted_mismatch, {Admitted: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(admitted_mismatch, {Admitted: Unavailable("403")}).outcome is Outcome.UNKNOWN
