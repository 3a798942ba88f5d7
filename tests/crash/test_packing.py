"""A packing is killed, with SIGKILL, at each of its steps: nothing is lost, and the next one takes
away what it left.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from crash import packing
from crash.faults import Fault
from crash.stages import EVERY, TODAY
from crash.test_sigkill import SOURCES
from herorun.core.untrusted_json import read_json
from stories import Story, copy, git, note

NOTES = 6


@pytest.fixture
def long_story(story: Story) -> Story:
    """A record with a pack of its own and as many loose commits again, which the next packing makes
    one of.
    """
    record = packing.open_record(story.work)
    for number in range(NOTES):
        record.append(note(f"{number}"))
        if number == NOTES // 2 - 1:
            packing.pack_all(story.work)
    return story


def steps(story: Story) -> list[str]:
    counting = Fault(0, False, lambda: None)
    packing.pack_all(story.work, counting)
    return counting.calls_seen


def ends_of(names: list[str]) -> list[tuple[str, str]]:
    """Each kind of step at its first and its last call, before and after; and in the midst of git's
    own work.
    """
    calls = {names.index(name) + 1 for name in names} | {
        len(names) - names[::-1].index(name) for name in names
    }
    points = [(str(at), moment) for at in sorted(calls) for moment in ("before", "after")]
    return [*points, (packing.CUT, "")]


def kill_packing(story: Story, at: str, moment: str) -> None:
    assert packing.__file__
    argv = [sys.executable, packing.__file__, str(story.work), at, moment]
    path = os.pathsep.join(str(SOURCES / name) for name in ("src", "tests"))
    process = subprocess.run(
        argv, capture_output=True, env={**os.environ, "PYTHONPATH": path}, check=False
    )
    assert process.returncode == -signal.SIGKILL, process.stderr.decode()


def must_be_whole(story: Story, notes: int) -> None:
    git(story.work, "fsck", "--full", "--strict", "--no-dangling")
    assert [
        getattr(line.event, "title", "") for line in packing.open_record(story.work).lines()
    ] == [f"{number}" for number in range(notes)]


def must_be_clean(story: Story, before: set[str]) -> None:
    """The packs that are noted hold each commit once, and there is nothing next to them, loose or
    half made.
    """
    common = story.work / ".git"
    packs = read_json((common / "herorun" / "tiny.packs.json").read_bytes())["packs"]
    assert sum(commits for _, _, commits in packs) == NOTES + 1 and len(packs) <= 2
    assert {path.stem for path in (common / "objects" / "pack").iterdir()} == {
        name for name, _, _ in packs
    }
    assert not list((common / "objects").glob("tmp_*")) and loose(story) == before
    assert not list((common / "herorun").glob("*.new"))


def loose(story: Story) -> set[str]:
    return {path.name for path in (story.work / ".git" / "objects").glob("??/*")}


def survives(story: Story, points: list[tuple[str, str]], path: Path) -> None:
    record = packing.open_record(story.work)
    objects = git(story.work, "rev-list", "--objects", str(record.tip)).splitlines()
    theirs = loose(story) - {row[2:40] for row in objects}
    copy(story.home, path)
    for at, moment in points:
        copy(path, story.home)
        kill_packing(story, at, moment)
        must_be_whole(story, NOTES)
        packing.open_record(story.work).append(note(f"{NOTES}"))
        packing.pack_all(story.work)
        must_be_whole(story, NOTES + 1)
        must_be_clean(story, theirs)


@pytest.mark.thorough
def test_a_packing_that_is_killed_loses_nothing(long_story: Story, tmp_path: Path) -> None:
    """At a third of its steps, by the day; one of them is that git is being told what to pack."""
    copy(long_story.home, tmp_path / "first")
    points = ends_of(steps(long_story))
    copy(tmp_path / "first", long_story.home)
    survives(long_story, points if EVERY else points[TODAY % 3 :: 3], tmp_path / "kept")
