import pytest

from herorun.checks.launch.uncommitted_contract import uncommitted_contract
from herorun.core.contract import ContractFile
from herorun.core.finding import Outcome


@pytest.mark.parametrize(
    ("committed", "outcome", "fact"),
    [
        ("text", Outcome.PASS, "committed"),
        ("another text", Outcome.FAIL, "HEAD"),
        (None, Outcome.FAIL, "in no commit"),
    ],
)
def test_only_what_is_committed_was_signed(
    committed: str | None, outcome: Outcome, fact: str
) -> None:
    verdict = uncommitted_contract(ContractFile("runs/tiny.toml", "text", committed))

    assert verdict.outcome is outcome
    assert fact in verdict.message
