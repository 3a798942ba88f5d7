"""The library's verbs: a contract that is built in Python is written once, and never over what
people wrote.
"""

from pathlib import Path

import pytest

import herorun
from herorun.core.contract import Contract, contract_from
from herorun.core.errors import Blocked, WrongUse
from screens.notices import Notice
from stories import Story, contract_of, forget


def build_contract(story: Story, **changes: object) -> Contract:
    return contract_from({**contract_of(story.data), **changes}, "here")


@pytest.mark.thorough
def test_a_missing_file_is_written_and_asks_to_be_committed(story: Story) -> None:
    path = story.work / "runs" / "tiny.toml"
    path.unlink()
    contract = build_contract(story)
    with pytest.raises(Blocked, match=r"push.*launch"):
        herorun.launch(contract, story.work)
    assert herorun.load(path) == contract
    story.publish()
    story.init()
    forget()
    outcome = herorun.launch(contract, story.work, babysit=False)
    story.wait_for_end()
    assert outcome.launched is not None and outcome.launched.instance == "tiny-1"


@pytest.mark.parametrize("edit", ["# mine\nslug = 'tiny'\n", None])
def test_a_file_that_says_something_else_is_kept(story: Story, edit: str | None) -> None:
    path = story.work / "runs" / "tiny.toml"
    if edit:
        path.write_text(edit)
    before = path.read_text()
    with pytest.raises((Blocked, WrongUse), match=r"runs/tiny\.toml"):
        herorun.launch(build_contract(story, goal="another goal"), story.work)
    assert path.read_text() == before
    assert story.starts == []


@pytest.mark.parametrize("data", [None, b"\xff\xfe"])
def test_a_contract_that_cannot_be_read_is_a_sentence(
    tmp_path: Path, data: bytes | None, notice: Notice
) -> None:
    path = tmp_path / "run.toml"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(WrongUse, match=r"run\.toml") as error:
        herorun.load(path)
    assert str(error.value) == notice
    assert str(path) in str(error.value) and "Errno" not in str(error.value)
