import pytest

from herorun.checks.launch.uncommitted_contract import uncommitted_contract
from herorun.core.contract import ContractFile
from herorun.core.finding import Outcome
from screens.notices import Notice


@pytest.mark.parametrize(
    ("committed_text", "outcome"),
    [
        ("text", Outcome.PASS),
        ("another text", Outcome.FAIL),
        (None, Outcome.FAIL),
    ],
)
def test_only_what_is_committed_was_signed(
    committed_text: str | None, outcome: Outcome, notice: Notice
) -> None:
    verdict = uncommitted_contract(ContractFile("runs/tiny.toml", "text", committed_text))

    assert verdict.outcome is outcome
    assert verdict.message == notice
