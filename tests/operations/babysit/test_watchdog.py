"""The dead man's switch, as somebody with nothing but a clone sees it."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from herorun.operations.babysit import watchdog
from herorun.system import clock
from stories import SLUG, WAIT, Story

CAPTURE = pytest.CaptureFixture[str]


def bark(story: Story, capsys: CAPTURE, *words: str) -> tuple[int, Any]:
    capsys.readouterr()
    code = story.herorun("watchdog", SLUG, "--json", *words)
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    return code, row


def later(monkeypatch: pytest.MonkeyPatch, **seconds: float) -> None:
    at = clock.now() + timedelta(**seconds)
    monkeypatch.setattr(watchdog, "now", lambda: at)


@pytest.mark.thorough
def test_a_run_that_was_looked_at_is_watched(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.run_first_job(WAIT)
    assert story.tick() == 0
    later(monkeypatch, minutes=29)
    code, output = bark(story, capsys)
    assert (code, output["monitor"], output["run"]) == (0, "fresh", "healthy")
    assert output["takeover"] == ""


def test_after_two_missed_cadences_it_is_stale_and_told_of_once(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.run_first_job(WAIT)
    assert story.tick() == 0
    later(monkeypatch, minutes=31)
    code, output = bark(story, capsys, "--comment")
    assert (code, output["monitor"], output["run"]) == (1, "stale", "healthy")
    take = f"herorun handoff {SLUG} --take --wait 31m && herorun babysit {SLUG}"
    assert output["takeover"] == take  # without the wait it would be refused
    bark(story, capsys, "--comment")
    text = [key for key in story.comments if key.startswith("watchdog/")]
    assert len(text) == 1 and f"`{take}`" in (story.state / "issue.md").read_text()
    lines = len(story.lines)
    assert story.tick() == 0  # it is watched again, and falls silent once more
    later(monkeypatch, hours=2)
    bark(story, capsys, "--comment")
    assert len([key for key in story.comments if key.startswith("watchdog/")]) == 2
    assert len(story.lines) > lines


@pytest.mark.thorough
def test_an_outsider_sees_what_is_published_and_not_what_its_clone_has(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.run_first_job(WAIT)
    outside = story.clone("outside")
    assert story.tick() == 0
    assert bark(outside, capsys)[1]["last_seen"] is not None
    before = bark(outside, capsys)[1]["last_seen"]
    assert story.tick() == 0
    assert bark(outside, capsys)[1]["last_seen"] > before
    story.refuse_pushes()
    assert story.tick() == 0
    last_seen = bark(outside, capsys)[1]["last_seen"]
    assert bark(outside, capsys)[1]["last_seen"] == last_seen


@pytest.mark.thorough
def test_a_tick_that_could_not_see_is_no_sign_of_life(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.run_first_job(WAIT)
    assert story.tick() == 0
    before = bark(story, capsys)[1]["last_seen"]
    (story.root / "metrics.jsonl").unlink(missing_ok=True)
    (story.root / "metrics.jsonl").mkdir()
    (story.jobs / "tiny-1").chmod(0)
    story.jobs.rename(story.jobs.with_name("away"))
    story.jobs.write_text("no folder")
    try:
        assert story.tick() == 3
        assert bark(story, capsys)[1]["last_seen"] == before
    finally:
        story.jobs.unlink()
        story.jobs.with_name("away").rename(story.jobs)
        (story.jobs / "tiny-1").chmod(0o700)


@pytest.mark.thorough
def test_what_nobody_needs_to_watch_is_quiet(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.init()
    later(monkeypatch, days=9)
    assert bark(story, capsys)[0] == 0
    story.run_to_success()
    later(monkeypatch, days=9)
    code, output = bark(story, capsys, "--comment")
    assert (code, output["monitor"]) == (0, "not-watched")
    assert story.seal() == 0
    code, output = bark(story, capsys, "--comment")
    assert (code, output["monitor"]) == (0, "not-watched")
    assert not [key for key in story.comments if key.startswith("watchdog/")]


@pytest.mark.parametrize(
    ("argv", "answer"), [([SLUG], (3, "unknown")), (["--all"], (0, "not-watched"))]
)
def test_a_record_that_is_missing_on_the_remote_says_nothing_about_the_run(
    story: Story, capsys: CAPTURE, argv: list[str], answer: tuple[int, str]
) -> None:
    code = story.herorun("watchdog", *argv, "--json")
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert (code, row["monitor"]) == answer
    assert f"herorun/{SLUG}" in row["why"]


@pytest.mark.thorough
def test_a_remote_that_does_not_answer_is_not_fresh(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job(WAIT)
    assert story.tick() == 0
    story.origin.rename(story.origin.with_name("gone"))
    code, output = bark(story, capsys)
    assert (code, output["monitor"]) == (3, "unknown")


def test_the_schedule_for_actions_runs_it() -> None:
    text = (Path(__file__).parents[3] / "templates" / "watchdog.yml").read_text()
    document = yaml.safe_load(text)
    steps = document["jobs"]["watchdog"]["steps"]
    assert [step["run"].split() for step in steps if "run" in step] == [
        ["pip", "install", '"git+https://HOST/OWNER/herorun@COMMIT"'],  # pinned
        ["herorun", "box", "watchdog", "--all", "--comment"],
    ]
    assert document["permissions"] == {"contents": "read", "issues": "write"}
    assert document[True]["schedule"]  # YAML 1.1 reads `on` as true
