"""A save that is not complete: since when nothing of it changed, and that a backup is none."""

import os
from pathlib import Path

import pytest

from builders import NOON
from herorun.core.ports import FileEntry, Place
from herorun.stores.layouts import levanter
from herorun.stores.layouts._contents import last_touched
from herorun.stores.local import LocalStore

LAYOUT = levanter.connect(levanter.Options(), Place("tiny", "", "", ""))


def test_a_half_written_one_is_as_old_as_its_newest_file(tmp_path: Path) -> None:
    folder = tmp_path / "step-100"
    folder.mkdir()
    for name, age in (("manifest.json", 900), ("weights", 300)):
        (folder / name).write_text("data")
        os.utime(folder / name, (NOON.timestamp() - age,) * 2)
    (candidates,) = LAYOUT.candidates(LocalStore(), str(tmp_path), False)

    assert candidates.incomplete and candidates.modified is not None
    assert (NOON - candidates.modified).total_seconds() == 300


def test_a_store_that_tells_no_times_leaves_what_the_listing_told(tmp_path: Path) -> None:
    (tmp_path / "step-100").mkdir()
    (candidate,) = LAYOUT.listed(LocalStore(), str(tmp_path), False)

    assert last_touched({"weights": FileEntry("weights")}, candidate) == candidate.modified


@pytest.mark.parametrize(
    ("name", "alike"), [("step-100.bak", True), ("step-100.tmp", False), ("step-100", False)]
)
def test_a_backup_is_no_save_under_way(tmp_path: Path, name: str, alike: bool) -> None:
    (tmp_path / name).mkdir()
    (candidates,) = LAYOUT.candidates(LocalStore(), str(tmp_path), False)

    assert candidates.alike is alike
