"""The babysitter's own process: detached, alone, hard to kill by a bad tick, and gone when there is nothing left."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from herorun.acts import babysitter
from herorun.acts.babysitter import last_heartbeat
from herorun.system.files import is_locked
from stories import CRASH, SLUG, WAIT, Story, eventually, git

SOURCES = str(Path(__file__).parents[2] / "src")


@pytest.fixture(autouse=True)
def paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", SOURCES)


def lock(story: Story) -> Path:
    return story.work / ".git" / "herorun" / "tiny.babysitter.lock"


def log(story: Story) -> str:
    return (story.work / ".herorun" / SLUG / "babysit.log").read_text()


def test_a_launch_starts_one_that_relaunches_tells_and_ends_with_the_run(story: Story) -> None:
    story.sign(babysit={"cadence": "100ms"})
    story.order("tiny-1", f"{WAIT}; {CRASH}")
    story.init()
    assert story.herorun("launch", SLUG) == 0
    assert is_locked(lock(story)) and last_heartbeat(story.run) is not None
    (story.data / "go").touch()
    eventually(lambda: not is_locked(lock(story)))
    assert [start.partition(" ")[0] for start in story.starts] == ["tiny-1", "tiny-2"]
    assert "post/submit/tiny-2" in story.comments and "tell/tiny-2/finished" in story.comments
    assert "tiny: finished" in log(story)
    assert story.herorun("logbook", "verify", SLUG) == 0


def test_there_is_one_at_a_time_and_a_signal_ends_it(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    story.launched(WAIT)
    run = story.run
    told = babysitter.start_babysitter(run)
    pid = json.loads((run.state / "heartbeat.json").read_text())["pid"]
    assert f"process {pid}" in told
    assert "is running already" in babysitter.start_babysitter(run)
    os.kill(pid, signal.SIGTERM)
    eventually(lambda: not is_locked(lock(story)))
    eventually(lambda: "herorun: interrupted." in log(story))
    assert len(story.starts) == 1


def test_a_tick_that_fails_is_said_and_the_next_one_is_due(
    story: Story, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever it was: a full disk, a locked file, a fault of ours."""
    story.launched()
    failures = iter([OSError(28, "No space left on device", "/state"), KeyError("x")])
    real = babysitter.take_turn

    def flaky(*given: object) -> object:
        for failure in failures:
            raise failure
        return real(*given)

    monkeypatch.setattr(babysitter, "take_turn", flaky)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    assert story.herorun("babysit", SLUG) == 0
    said = capsys.readouterr().err
    assert "this tick failed: /state: No space left on device" in said
    assert "this tick failed: KeyError: 'x'" in said
    assert "tell/tiny-1/finished" in story.comments


def test_a_status_says_when_nobody_watches(story: Story, capsys: pytest.CaptureFixture[str]) -> None:
    story.launched()
    capsys.readouterr()
    story.herorun("status", SLUG, "--json")
    assert json.loads(capsys.readouterr().out)["babysitter"] == "none was seen on this machine"
    story.tick()
    heart = story.work / ".herorun" / SLUG / "heartbeat.json"
    told = json.loads(heart.read_text())
    heart.write_text(json.dumps({**told, "at": "2026-01-01T00:00:00Z"}))
    capsys.readouterr()
    story.herorun("status", SLUG, "--json")
    assert json.loads(capsys.readouterr().out)["babysitter"].startswith("monitor stale: ")
    heart.write_text("{torn")
    assert last_heartbeat(story.run) is None


def test_a_run_in_another_clone_is_watched_from_its_record(story: Story) -> None:
    """The record comes with the first look; whose job this machine cannot see is left alone."""
    story.launched(CRASH)
    other = story.clone("elsewhere")
    assert other.tick() == 3
    assert len(story.starts) == 1
    assert git(other.work, "rev-parse", "refs/herorun/record/tiny")
