"""What a run keeps is its user's alone, also where the user's umask would let everybody in."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from herorun.system.files import append_line, create_atomic, write_atomic
from stories import CRASH, Story

OTHERS = stat.S_IRWXG | stat.S_IRWXO


@pytest.fixture
def open_to_all() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("open_to_all")
def test_folders_are_as_private_as_the_file_they_were_made_for(tmp_path: Path) -> None:
    write_atomic(tmp_path / "a" / "b" / "file", b"x")
    append_line(tmp_path / "c" / "d" / "lines", "x")
    create_atomic(tmp_path / "e" / "told", b"x", 0o644)

    assert [_mode(tmp_path / name) for name in ("a", "a/b", "c", "c/d")] == [0o700] * 4
    assert [_mode(tmp_path / name) for name in ("a/b/file", "c/d/lines")] == [0o600] * 2
    assert _mode(tmp_path / "e" / "told") == 0o644


@pytest.mark.thorough
@pytest.mark.usefixtures("open_to_all")
def test_nothing_of_a_run_is_open_to_others(story: Story) -> None:
    story.run_first_job(CRASH)
    assert story.tick() in (0, 1, 3)
    state = story.work / ".herorun"

    assert _mode(state) == 0o700
    paths = [
        path for path in state.rglob("*") if not path.is_symlink() and "code" not in path.parts
    ]
    modes = {
        str(path.relative_to(state)): oct(_mode(path)) for path in paths if _mode(path) & OTHERS
    }
    assert set(modes) <= {".gitignore"}
    assert [
        str(path) for path in (story.work / ".git" / "herorun").iterdir() if _mode(path) & OTHERS
    ] == []
