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


def ask_check(by: str, author: CommitAuthor | str, **changes):
    contract = a_contract(**{"dri": "@ana", **changes})
    waivers = Waivers((Waiver("dirty-tree", "r", by, NOON),))
    return answer(unapproved_waiver, contract, waivers, Approvals((author,)))


def test_a_name_that_nobody_made_an_approver_is_refused():
    assert ask_check("me", ANA).outcome is Outcome.FAIL
    assert (
        ask_check("@bob", BOB, policy={"approvers": ["@bob <bob@example.org>"]}).outcome
        is Outcome.PASS
    )


def test_a_recorded_name_is_called_recorded():
    verdict = ask_check("@ana", BOB)
    assert verdict.outcome is Outcome.PASS
    assert mentions(verdict.message, "@ana", "recorded")


def test_without_an_approver_there_is_nothing_to_compare_a_recorded_name_with():
    assert ask_check("@ana", ANA, dri=None).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize("changes", [HERO, {"policy": {"approvals": "committed"}}])
def test_of_a_hero_run_the_commit_must_be_the_approvers(changes):
    assert ask_check("@ana", ANA, **changes).outcome is Outcome.PASS
    other = ask_check("@ana", BOB, **changes)
    assert other.outcome is Outcome.FAIL and mentions(other.message, "Bob <bob@example.org>")


def test_recorded_is_never_enough_for_a_hero_run():
    assert ask_check("@ana", BOB, **HERO, policy={"approvals": "recorded"}).outcome is Outcome.FAIL


def test_a_good_signature_counts_for_more_than_the_author():
    signed_commit = CommitAuthor("c" * 40, "Ana", "ana@example.org", "good", "bob@example.org")
    assert ask_check("@ana", signed_commit, **HERO).outcome is Outcome.FAIL
    assert ask_check("@ana <bob@example.org>", signed_commit, **HERO).outcome is Outcome.PASS
    bad = CommitAuthor("c" * 40, "Ana", "ana@example.org", "bad", "")
    assert ask_check("@ana", bad, **HERO).outcome is Outcome.FAIL


def test_what_nobody_can_see_is_unknown():
    verdict = ask_check("@ana", "this clone is shallow", **HERO)
    assert verdict.outcome is Outcome.UNKNOWN and mentions(verdict.message, "clone", "shallow")


def test_no_waiver_covers_it():
    verdict = ask_check("me", ANA)
    waiver = Waiver("unapproved-waiver", "r", "me", NOON)
    assert not waiver.covers("unapproved-waiver", verdict, NOON.replace(year=2025))


def test_without_a_waiver_there_is_nothing_to_judge():
    verdict = answer(unapproved_waiver, a_contract(), Waivers(()), Approvals(()))
    assert verdict.outcome is Outcome.NOT_APPLICABLE
