import pytest

from builders import answer
from herorun.checks.health.contract_drift import contract_drift
from herorun.core.check import Response, Topic
from herorun.core.evidence import ContractDrift
from herorun.core.finding import Outcome
from wording import mentions


def test_the_admitted_contract_passes():
    assert answer(contract_drift, ContractDrift("tiny-1")).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("drift", "word"),
    [
        (ContractDrift("tiny-1", ("checkpoints.keep: 10 -> 3",)), "checkpoints.keep: 10 -> 3"),
        (ContractDrift("tiny-1", problem="runs/tiny.toml is not valid TOML"), "runs/tiny.toml"),
    ],
)
def test_another_or_a_broken_contract_is_reported_and_is_no_illness_of_the_run(drift, word):
    verdict = answer(contract_drift, drift)

    assert (verdict.outcome, verdict.subject) == (Outcome.FAIL, "tiny-1")
    assert word in verdict.message and mentions(verdict.message, "admitted", "applies")
    assert (contract_drift.response, contract_drift.topic) == (Response.WARN, Topic.MONITOR)
