from datetime import timedelta

import pytest

from builders import NOON, a_contract, answer
from herorun.checks.launch.expiring_start_checkpoint import expiring_start_checkpoint
from herorun.core.evidence import RootFacts, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

START = "gs://bucket/ttl=14d/step-9"
CONTRACT = a_contract(start={"from": f"{START}/"})
DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("when", "terms"),
    [
        (NOON + DAY, ("expires", "2026-01-02T12:00Z")),
        (NOON - DAY, ("was due", "2025-12-31T12:00Z")),
    ],
)
def test_one_that_a_rule_deletes_says_when_and_why(when, terms):
    facts = RootFacts({}, {START: ("deleted after 14d",)}, {START: when})

    verdict = answer(expiring_start_checkpoint, CONTRACT, facts)

    assert verdict.outcome is Outcome.FAIL
    assert mentions(verdict.message, *terms)
    assert verdict.details == ("deleted after 14d",)
    assert verdict.subject == START


def test_one_that_no_rule_deletes_passes():
    facts = RootFacts({}, {START: ("versioning",)})

    assert answer(expiring_start_checkpoint, CONTRACT, facts).outcome is Outcome.PASS


def test_one_whose_rules_nobody_may_ask_is_unknown():
    facts = RootFacts({}, unknown_rules={START: "403 Forbidden"})

    verdict = answer(expiring_start_checkpoint, CONTRACT, facts)

    assert verdict.outcome is Outcome.UNKNOWN
    assert "403 Forbidden" in verdict.message


def test_a_start_from_scratch_is_not_applicable():
    assert answer(expiring_start_checkpoint).outcome is Outcome.NOT_APPLICABLE


def test_facts_that_could_not_be_read_are_unknown():
    verdict = answer(expiring_start_checkpoint, CONTRACT, {RootFacts: Unavailable("time-out")})

    assert verdict.outcome is Outcome.UNKNOWN
