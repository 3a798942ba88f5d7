from datetime import timedelta

import pytest

from builders import NOON
from herorun.core.finding import (
    Finding,
    Outcome,
    Verdict,
    Waiver,
    failed,
    few,
    passed,
    unknown,
    waive,
)

LATER = NOON + timedelta(days=1)
SPIKE = failed("loss is up", subject="loss from step 412")


def sign(verdict: Verdict, now=NOON, check="loss-spike", **changes):
    fields = {
        "check": "loss-spike",
        "reason": "declared",
        "approved_by": "@dri",
        "expires": LATER,
        **changes,
    }
    (finding,) = waive([Finding(check, verdict)], [Waiver(**fields)], now)
    return finding


def test_a_waiver_signs_and_does_not_hide():
    finding = sign(SPIKE)

    assert finding.verdict == SPIKE
    assert finding.waiver and finding.waiver.approved_by == "@dri"
    assert not finding.open


@pytest.mark.parametrize(
    ("verdict", "changes", "is_open"),
    [
        (SPIKE, {}, False),
        (SPIKE, {"subject": "loss from step 412"}, False),
        (SPIKE, {"subject": "loss from step 41"}, True),
        (SPIKE, {"subject": ""}, True),
        (SPIKE, {"check": "not-finite"}, True),
        (SPIKE, {"expires": NOON}, True),
        (SPIKE, {"expires": NOON + timedelta(seconds=1)}, False),
        (unknown("503"), {}, True),
        (unknown("503"), {"unknown": True}, False),
    ],
)
def test_what_a_waiver_covers(verdict, changes, is_open):
    assert sign(verdict, **changes).open is is_open


def test_a_passing_finding_is_not_signed():
    assert sign(passed("fine")).waiver is None


def test_the_first_waiver_that_covers_it_signs():
    old = Waiver("a", "old", "@x", NOON)
    new = Waiver("a", "new", "@y", LATER)
    (finding,) = waive([Finding("a", failed(""))], [old, new], NOON)

    assert finding.waiver == new


def test_only_fail_and_unknown_are_open():
    assert {o for o in Outcome if Finding("a", Verdict(outcome=o, message="")).open} == {
        Outcome.FAIL,
        Outcome.UNKNOWN,
    }


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b", "c"], "a, b, c"),
        (["a", "b", "c", "d"], "a, b, c and 1 more"),
    ],
)
def test_a_few_names(names, text):
    assert few(names) == text
