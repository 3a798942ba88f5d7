from pathlib import Path
from typing import Any

from builders import a_contract
from herorun import discover
from herorun.core.contract import Contract
from herorun.core.evidence import FreeDisk, Nothing, Unavailable
from herorun.gather import gather


def read(root: str) -> Any:
    """As a gate reads it: found by its return type, fed by its parameters."""
    contract = a_contract(output={"root": root, "temporary_root": None})
    return gather([FreeDisk], discover.sources(), {Contract: contract})[FreeDisk]


def test_a_root_that_is_not_there_yet_is_asked_for_its_disk(tmp_path: Path) -> None:
    root = str(tmp_path / "not" / "yet")
    assert read(root).bytes_free[root] > 0


def test_a_root_elsewhere_is_nothing_and_not_zero() -> None:
    assert isinstance(read("gs://bucket/tiny"), Nothing)


def test_a_root_that_cannot_be_asked_is_unavailable_and_not_full(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert isinstance(read(str(tmp_path / "file" / "root")), Unavailable)
