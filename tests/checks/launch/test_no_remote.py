from builders import a_contract, answer, answers
from herorun.checks.launch.no_remote import no_remote
from herorun.core.evidence import Remotes, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def test_the_named_remote_passes():
    assert answer(no_remote).outcome is Outcome.PASS


def test_no_remote_at_all_is_one_finding():
    verdict = answer(no_remote, Remotes({}))

    assert verdict.outcome is Outcome.FAIL
    assert verdict.subject == "origin"
    assert mentions(verdict.message, "called", "origin")


def test_another_name_says_what_there_is():
    verdict = answer(no_remote, Remotes({"upstream": "u", "fork": "f"}))

    assert "fork, upstream" in verdict.message


def test_a_record_remote_of_its_own_is_asked_too():
    private = a_contract(logbook={"remote": "private"})

    here, missing = answers(no_remote, private)
    assert (here.subject, here.outcome) == ("origin", Outcome.PASS)
    assert (missing.subject, missing.outcome) == ("private", Outcome.FAIL)


def test_unread_remotes_are_unknown():
    assert answer(no_remote, {Remotes: Unavailable("git failed")}).outcome is Outcome.UNKNOWN
