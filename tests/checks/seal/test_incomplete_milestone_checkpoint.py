from dataclasses import replace

from builders import a_checkpoint, a_history, answer
from herorun.checks.seal.incomplete_milestone_checkpoint import incomplete_milestone_checkpoint
from herorun.core.evidence import MilestoneCheckpoint, Sealing, Unavailable
from herorun.core.finding import Outcome
from herorun.core.seal.kinds import SealKind
from wording import mentions

SEAL_REQUEST = Sealing(SealKind.MILESTONE, "half", 100)
HALF = a_checkpoint(100)


def ask(candidate, *changes):
    return answer(
        incomplete_milestone_checkpoint, SEAL_REQUEST, MilestoneCheckpoint(candidate), *changes
    )


def test_a_complete_permanent_one_passes():
    assert ask(HALF).outcome is Outcome.PASS


def test_none_of_that_step_fails():
    assert mentions(ask(None).message, "checkpoint", "100")


def test_an_incomplete_or_temporary_one_fails():
    assert mentions(ask(replace(HALF, problem="no metadata.json")).message, "no metadata.json")
    assert "only temporary" in ask(replace(HALF, temporary=True)).message


def test_one_that_no_instance_of_this_run_wrote_fails():
    assert ask(HALF, a_history(foreign=frozenset({HALF.path}))).outcome is Outcome.FAIL


def test_one_that_could_not_be_looked_into_is_unknown():
    assert ask(replace(HALF, examined=False, problem="EIO")).outcome is Outcome.UNKNOWN
    unread_evidence = {MilestoneCheckpoint: Unavailable("403")}
    assert (
        answer(incomplete_milestone_checkpoint, SEAL_REQUEST, unread_evidence).outcome
        is Outcome.UNKNOWN
    )
