from builders import answer
from herorun.checks.seal.no_remote import no_remote
from herorun.core.evidence import Remotes, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def test_the_named_remote_passes():
    assert answer(no_remote).outcome is Outcome.PASS


def test_a_seal_that_nobody_else_can_have_says_not_pushed():
    verdict = answer(no_remote, Remotes({}))

    assert verdict.outcome is Outcome.FAIL
    assert verdict.subject == "origin" and mentions(verdict.message, "not pushed", "origin")


def test_unread_remotes_are_unknown():
    assert answer(no_remote, {Remotes: Unavailable("git failed")}).outcome is Outcome.UNKNOWN
