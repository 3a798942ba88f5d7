from builders import EVERY, NOON, answer
from herorun.checks.seal.babysitter_still_running import babysitter_still_running
from herorun.core.evidence import Heartbeat, LeaseSeen, Nothing, Unavailable
from herorun.core.finding import Outcome
from wording import mentions

THEIRS = LeaseSeen(owner="eve@there", slug="tiny", unchanged_since=NOON - EVERY, mine=False)


def test_a_babysitter_of_this_machine_is_no_fault():
    here = answer(babysitter_still_running)
    assert here.outcome is Outcome.PASS and mentions(here.message, "seal", "stop")
    none = answer(babysitter_still_running, Heartbeat(False), {LeaseSeen: Nothing()})
    assert none.outcome is Outcome.PASS and "stop" not in none.message


def test_another_owner_fails_and_is_named():
    verdict = answer(babysitter_still_running, THEIRS)
    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "eve@there")
    assert mentions(verdict.message, "eve@there")


def test_a_lease_that_cannot_be_read_is_unknown():
    assert (
        answer(babysitter_still_running, {LeaseSeen: Unavailable("403")}).outcome is Outcome.UNKNOWN
    )
