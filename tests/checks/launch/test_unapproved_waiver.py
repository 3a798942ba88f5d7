"""Who approved a waiver: a name in a file is recorded, and the author of its commit is more."""

import pytest

from builders import NOON, a_contract, answer
from herorun.checks.launch.unapproved_waiver import unapproved_waiver
from herorun.core.evidence import Approvals, CommitAuthor, Waivers
from herorun.core.finding import Outcome, Waiver
from wording import mentions

ANA = CommitAuthor("a" * 40, "Ana Lee", "7+ana@users.noreply.github.com")
BOB = CommitAuthor("b" * 40, "Bob", "bob@example.org")
HERO = {"dri": "@ana", "hero": True}


def asked(by: str, added: CommitAuthor | str, **changes):
    contract = a_contract(**{"dri": "@ana", **changes})
    waivers = Waivers((Waiver("dirty-tree", "r", by, NOON),))
    return answer(unapproved_waiver, contract, waivers, Approvals((added,)))


def test_a_name_that_nobody_made_an_approver_is_refused():
    assert asked("me", ANA).outcome is Outcome.FAIL
    assert (
        asked("@bob", BOB, policy={"approvers": ["@bob <bob@example.org>"]}).outcome is Outcome.PASS
    )


def test_a_recorded_name_is_called_recorded():
    verdict = asked("@ana", BOB)
    assert verdict.outcome is Outcome.PASS
    assert mentions(verdict.message, "@ana", "recorded")


def test_without_an_approver_there_is_nothing_to_compare_a_recorded_name_with():
    assert asked("@ana", ANA, dri=None).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize("changes", [HERO, {"policy": {"approvals": "committed"}}])
def test_of_a_hero_run_the_commit_must_be_the_approvers(changes):
    assert asked("@ana", ANA, **changes).outcome is Outcome.PASS
    other = asked("@ana", BOB, **changes)
    assert other.outcome is Outcome.FAIL and mentions(other.message, "Bob <bob@example.org>")


def test_recorded_is_never_enough_for_a_hero_run():
    assert asked("@ana", BOB, **HERO, policy={"approvals": "recorded"}).outcome is Outcome.FAIL


def test_a_good_signature_counts_for_more_than_the_author():
    signed = CommitAuthor("c" * 40, "Ana", "ana@example.org", "good", "bob@example.org")
    assert asked("@ana", signed, **HERO).outcome is Outcome.FAIL
    assert asked("@ana <bob@example.org>", signed, **HERO).outcome is Outcome.PASS
    bad = CommitAuthor("c" * 40, "Ana", "ana@example.org", "bad", "")
    assert asked("@ana", bad, **HERO).outcome is Outcome.FAIL


def test_what_nobody_can_see_is_unknown():
    verdict = asked("@ana", "this clone is shallow", **HERO)
    assert verdict.outcome is Outcome.UNKNOWN and mentions(verdict.message, "clone", "shallow")


def test_no_waiver_covers_it():
    verdict = asked("me", ANA)
    waiver = Waiver("unapproved-waiver", "r", "me", NOON)
    assert not waiver.covers("unapproved-waiver", verdict, NOON.replace(year=2025))


def test_without_a_waiver_there_is_nothing_to_judge():
    verdict = answer(unapproved_waiver, a_contract(), Waivers(()), Approvals(()))
    assert verdict.outcome is Outcome.NOT_APPLICABLE
