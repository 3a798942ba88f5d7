"""docs/architecture.md names the rooms and files that there are, and those that a launch and a tick
really pass.
"""

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from stories import Story

TOP = Path(__file__).parents[2]
SRC = TOP / "src" / "herorun"
PAGE = (TOP / "docs" / "architecture.md").read_text(encoding="utf-8")
FILES = re.findall(r"`([\w/]+\.py)`", PAGE)
ELSEWHERE = ("tests/",)


def path_of(heading: str) -> list[str]:
    """The files of the numbered list below a heading, in its order."""
    part = PAGE.partition(f"## The path of one {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\d+\. `([\w/]+\.py)`", part, re.MULTILINE)


def test_every_file_that_the_page_names_exists() -> None:
    assert len(FILES) > 25
    roots = {name: TOP if name.startswith(ELSEWHERE) else SRC for name in FILES}
    assert [name for name, root in roots.items() if not (root / name).is_file()] == []


def test_the_picture_shows_every_room() -> None:
    picture = PAGE.partition("```text\n")[2].partition("```")[0]
    rooms = {
        path.name for path in (SRC / "operations").iterdir() if (path / "__init__.py").exists()
    }
    names = set(re.findall(r"[\w.]+", picture))
    assert rooms - names == set()
    layers = {path.name for path in SRC.iterdir() if (path / "__init__.py").exists()}
    assert layers - set(re.findall(r"(\w+)/", PAGE)) - {"signatures"} == set()


@contextmanager
def record_files(files: set[str]) -> Iterator[None]:
    """Collect the files of the package in which a function is called, in any thread."""

    def note(frame: FrameType, event: str, arg: object) -> None:
        name = frame.f_code.co_filename
        if frame.f_code.co_name != "<module>" and name.startswith(str(SRC)):
            files.add(Path(name).relative_to(SRC).as_posix())

    before = sys.gettrace()
    threading.settrace(note)
    sys.settrace(note)
    try:
        yield
    finally:
        sys.settrace(before)
        threading.settrace(None)  # type: ignore[arg-type]  # None ends it


@pytest.mark.thorough
def test_a_launch_and_a_tick_pass_these_files(story: Story) -> None:
    plan = str(story.home / "plan.json")
    assert story.init() == 0
    assert story.herorun("preflight", "tiny", "--out", plan) == 0
    launch: set[str] = set()
    tick: set[str] = set()
    with record_files(launch):
        assert story.launch("--plan", plan) == 0
    with record_files(tick):
        story.tick()
    assert set(path_of("launch")) - launch == {"operations/launch/start_babysitter.py"}
    assert set(path_of("tick")) - tick == set()
    assert len(path_of("launch")) > 10 and len(path_of("tick")) > 8
