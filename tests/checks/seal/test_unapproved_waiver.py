"""Who approved a waiver: a name in a file is recorded, and the author of its commit is more."""

from builders import NOON, a_contract, answer
from herorun.checks.seal.unapproved_waiver import unapproved_waiver
from herorun.core.evidence import Approvals, CommitAuthor, Waivers
from herorun.core.finding import Outcome, Waiver

ANA = CommitAuthor("a" * 40, "Ana Lee", "7+ana@users.noreply.github.com")
BOB = CommitAuthor("b" * 40, "Bob", "bob@example.org")


def ask_check(by: str, author: CommitAuthor | str, **changes):
    contract = a_contract(**{"dri": "@ana", **changes})
    waivers = Waivers((Waiver("dirty-tree", "r", by, NOON),))
    return answer(unapproved_waiver, contract, waivers, Approvals((author,)))


def test_the_seal_states_only_what_its_approver_approved():
    assert ask_check("me", ANA).outcome is Outcome.FAIL
    assert ask_check("@ana", BOB, hero=True).outcome is Outcome.FAIL
    assert ask_check("@ana", ANA, hero=True).outcome is Outcome.PASS
