"""Who offers something to a group of entry points, as `importlib.metadata` says."""

import importlib
import os
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from zipfile import ZipFile

import pytest

from herorun.system.entry_points import is_group_offered

GROUP = "herorun.moons"
OFFER = f"[console_scripts]\na = b:c\n\n[{GROUP}]\nfull = moon:full\n"


@pytest.mark.parametrize("facts", ["moon-1.dist-info", "moon-1.egg-info"])
def test_a_package_on_the_path_offers_its_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, facts: str
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "none"), *sys.path])
    assert not is_group_offered(GROUP) and not entry_points(group=GROUP)
    (tmp_path / facts).mkdir()
    importlib.invalidate_caches()  # it looks at the time of the folder too
    (tmp_path / facts / "entry_points.txt").write_text(OFFER)
    assert is_group_offered(GROUP) and entry_points(group=GROUP)


def test_a_package_that_is_removed_offers_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "moon-1.dist-info"
    package.mkdir()
    (package / "entry_points.txt").write_text(OFFER)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert is_group_offered(GROUP)
    shutil.rmtree(package)
    assert not is_group_offered(GROUP)


def test_a_packages_files_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "moon-1.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    os.utime(tmp_path, (0, 0))
    reads, listdir = [], os.listdir
    monkeypatch.setattr(os, "listdir", lambda path: reads.append(path) or listdir(path))
    assert [is_group_offered(group) for group in (GROUP, "pydantic", GROUP)] == [False] * 3
    assert reads == [str(tmp_path)]


def test_what_an_archive_offers_is_left_to_importlib(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ZipFile(tmp_path / "moon.zip", "w") as archive:
        archive.writestr("moon-1.dist-info/entry_points.txt", OFFER)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "moon.zip")])
    assert is_group_offered(GROUP)


PLUGIN = """
from herorun.system.entry_points import skip_search_for_plugins
skip_search_for_plugins()
import sys
from pydantic import BaseModel

class Model(BaseModel):
    x: int

assert Model(x=1).x == 1
print("moon" in sys.modules, "importlib.metadata" in sys.modules)
"""


def test_pydantic_finds_a_plugin_that_a_package_brings(tmp_path: Path) -> None:
    assert _print_entry_points(tmp_path) == "False False\n"
    (tmp_path / "moon-1.dist-info").mkdir()
    offer = "[pydantic]\nmoon = moon:plugin\n"
    (tmp_path / "moon-1.dist-info" / "entry_points.txt").write_text(offer)
    (tmp_path / "moon-1.dist-info" / "METADATA").write_text("Name: moon\nVersion: 1\n")
    (tmp_path / "moon.py").write_text(
        "class plugin:\n    @staticmethod\n"
        "    def new_schema_validator(*_a, **_k):\n        return None, None, None\n"
    )
    assert _print_entry_points(tmp_path) == "True True\n"


def _print_entry_points(folder: Path) -> str:
    argv = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(folder)!r}){PLUGIN}"]
    return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60).stdout
