"""hardware-mismatch."""

from builders import a_contract, answer, answers
from herorun.checks.launch.hardware_mismatch import hardware_mismatch
from herorun.core.evidence import Nothing, Offered
from wording import mentions

STATED = a_contract(hardware={"accelerator": "H100", "count": 704, "topology": "11 x NVL72"})


def test_the_stated_hardware_passes() -> None:
    verdicts = answers(hardware_mismatch, STATED, Offered({"accelerator": "h100", "count": 704}))
    assert [(v.subject, v.outcome) for v in verdicts] == [
        ("accelerator", "pass"),
        ("count", "pass"),
    ]


def test_another_count_fails() -> None:
    verdict = answer(hardware_mismatch, STATED, Offered({"count": 72}))
    assert verdict.outcome == "fail" and mentions(verdict.message, "count", "72", "704")


def test_a_scheduler_that_does_not_tell_is_not_judged() -> None:
    reason = "no allocation yet"
    verdict = answer(hardware_mismatch, STATED, Offered(partial=reason))
    assert verdict.message == reason
    assert answer(hardware_mismatch, STATED, {Offered: Nothing("not told")}).outcome == "n/a"
