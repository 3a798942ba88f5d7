"""The thresholds that a contract sets, and the checks by their names."""

from typing import Any

import pytest

from builders import a_contract
from herorun import discover
from herorun.core.contract import ContractFile
from herorun.core.errors import WrongUse
from herorun.runs.thresholds import check_limits
from screens.notices import Notice


@pytest.mark.parametrize(
    "thresholds",
    [
        {"not-finit": {"rows": 3}},
        {"not-finite": {"loss_row": 3}},
    ],
)
def test_a_mistyped_threshold_is_told_its_name_and_line(thresholds: Any, notice: Notice) -> None:
    contract = a_contract(babysit={"thresholds": thresholds})
    text = 'slug = "tiny"\n\n[babysit.thresholds.not-finite]\nloss_row = 3\n'
    with pytest.raises(WrongUse, match="mean") as caught:
        check_limits(contract, ContractFile("runs/tiny.toml", text))
    assert str(caught.value) == notice


def test_every_check_is_found_by_the_name_of_its_file() -> None:
    every = discover.checks()
    for name in {check.name for check in every}:
        named = [check.ask for check in every if check.name == name]
        assert [check.ask for check in discover.checks_named(name)] == named, name
