"""hardware-mismatch."""

import pytest

from builders import a_contract, answer, answers
from herorun.checks.launch.hardware_mismatch import hardware_mismatch
from herorun.core.evidence import Nothing, Offered
from wording import mentions

STATED_CONTRACT = a_contract(
    hardware={"accelerator": "H100", "count": 704, "topology": "11 x NVL72"}
)


def test_the_stated_hardware_passes() -> None:
    verdicts = answers(
        hardware_mismatch, STATED_CONTRACT, Offered({"accelerator": "h100", "count": 704})
    )
    assert [(v.subject, v.outcome) for v in verdicts] == [
        ("accelerator", "pass"),
        ("count", "pass"),
    ]


def test_another_count_fails() -> None:
    verdict = answer(hardware_mismatch, STATED_CONTRACT, Offered({"count": 72}))
    assert verdict.outcome == "fail" and mentions(verdict.message, "count", "72", "704")


def test_a_scheduler_that_does_not_tell_is_not_judged() -> None:
    reason = "no allocation yet"
    verdict = answer(hardware_mismatch, STATED_CONTRACT, Offered(partial=reason))
    assert verdict.message == reason
    assert (
        answer(hardware_mismatch, STATED_CONTRACT, {Offered: Nothing("not told")}).outcome == "n/a"
    )


def test_what_cannot_be_compared_is_not_judged_and_both_values_are_named() -> None:
    verdict = answer(hardware_mismatch, STATED_CONTRACT, Offered({"topology": "8x8x8"}))
    assert (verdict.subject, verdict.outcome) == ("topology", "n/a")
    assert mentions(verdict.message, "topology", "8x8x8", "11 x NVL72")


@pytest.mark.parametrize(
    ("offered_zone", "outcome"),
    [
        ("US-EAST5", "pass"),
        ("us-east5-a", "pass"),
        (("us-east5-a", "us-east5-b"), "pass"),
        (("us-east5-a", "us-east1"), "fail"),
        ("us-east51", "fail"),
        ("us", "fail"),
    ],
)
def test_a_zone_is_in_the_region_that_is_stated(offered_zone: object, outcome: str) -> None:
    stated_contract = a_contract(hardware={"region": "us-east5"})
    assert (
        answer(hardware_mismatch, stated_contract, Offered({"region": offered_zone})).outcome
        == outcome
    )
