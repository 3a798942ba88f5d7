from builders import answer
from herorun.checks.health.unproven_launch import unproven_launch
from herorun.core.check import Response
from herorun.core.evidence import LaunchProof, Unavailable
from herorun.core.finding import Outcome

ONE, TWO = "tiny-2 does not count: x", "the seal herorun/tiny/seal-1 does not count: y"


def test_a_record_whose_launches_are_proven_passes():
    assert answer(unproven_launch).outcome is Outcome.PASS


def test_what_does_not_count_is_told_to_a_person():
    verdict = answer(unproven_launch, LaunchProof((ONE, TWO)))
    assert (verdict.outcome, verdict.message) == (Outcome.FAIL, f"{ONE}, and 1 more")
    assert verdict.details == (ONE, TWO) and unproven_launch.response is Response.ESCALATE


def test_an_unread_proof_is_unknown():
    assert answer(unproven_launch, {LaunchProof: Unavailable("damaged")}).outcome is Outcome.UNKNOWN
