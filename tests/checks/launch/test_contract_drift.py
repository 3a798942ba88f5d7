from builders import answer
from herorun.checks.launch.contract_drift import contract_drift
from herorun.core.check import Response
from herorun.core.evidence import ContractDrift
from herorun.core.finding import Outcome


def test_the_same_contract_passes():
    assert answer(contract_drift, ContractDrift("tiny-1")).outcome is Outcome.PASS


def test_each_change_is_named_and_only_warned_of():
    verdict = answer(contract_drift, ContractDrift("tiny-1", ("checkpoints.keep: 10 -> 3",)))

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "tiny-1")
    assert "checkpoints.keep: 10 -> 3" in verdict.message and verdict.details == (
        "checkpoints.keep: 10 -> 3",
    )
    assert contract_drift.response is Response.WARN


def test_before_the_first_launch_there_is_none():
    assert answer(contract_drift).outcome is Outcome.NOT_APPLICABLE
