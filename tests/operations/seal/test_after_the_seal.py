"""What is quiet after a seal, what says so, and the timers of others that the seal names."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from herorun.operations.babysit import watchdog
from stories import CRASH, SLUG, TAG, WAIT, Story
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
CRONTAB = """\
# */5 * * * * herorun babysit tiny --once
*/15 * * * * cd ~/work && herorun babysit tiny --once
*/15 * * * * herorun -C ~/work babysit --all --once
0 * * * * herorun watchdog tiny-2
"""
WORKFLOW = "jobs:\n  look:\n    steps:\n      - run: herorun watchdog tiny --comment\n"
UNIT = "[Service]\nExecStart=/usr/bin/herorun patrol tiny\n"


@pytest.fixture
def timers(story: Story, monkeypatch: pytest.MonkeyPatch) -> Story:
    """A crontab, a workflow and a unit that look at the run, and others that do not."""
    home, programs = story.home / "user", story.home / "bin"
    units, workflows = home / ".config/systemd/user", story.work / ".github/workflows"
    for folder in (units, workflows, programs):
        folder.mkdir(parents=True)
    (story.home / "crontab").write_text(CRONTAB)
    (programs / "crontab").write_text(f"#!/bin/sh\nexec cat {story.home}/crontab\n")
    (programs / "crontab").chmod(0o755)
    (workflows / "look.yml").write_text(WORKFLOW)
    (workflows / "test.yml").write_text("jobs:\n  test:\n    steps:\n      - run: pytest tiny\n")
    (units / "look.service").write_text(UNIT)
    (units / "other.service").write_text(UNIT.replace("tiny", "other"))
    story.publish()
    monkeypatch.setattr(Path, "home", classmethod(lambda cls: home))
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    return story


@pytest.mark.thorough
def test_each_timer_that_looks_at_the_run_is_named_with_its_removal_and_none_is_touched(
    timers: Story, capsys: CAPTURE
) -> None:
    timers.run_first_job(CRASH)
    capsys.readouterr()
    assert timers.herorun("seal", SLUG, "--aborted") == 0
    text = [line for line in capsys.readouterr().err.splitlines() if "timer" in line]
    cron, workflow, unit = text
    assert all(mentions(line, "herorun: ", "timer", f"{SLUG}: ") for line in text)
    line = "*/15 * * * * cd ~/work && herorun babysit tiny --once"
    assert mentions(cron, "`crontab -e`", "remove", line)
    assert mentions(workflow, ".github/workflows/look.yml", "push")
    assert mentions(unit, "`systemctl --user", "disable --now", "look.timer`")
    assert (timers.home / "crontab").read_text() == CRONTAB


@pytest.mark.thorough
def test_a_milestone_leaves_the_timers_unmentioned(timers: Story, capsys: CAPTURE) -> None:
    timers.run_first_job(WAIT)
    capsys.readouterr()
    assert timers.herorun("seal", SLUG, "--milestone", "step-2") == 0
    assert "timer" not in capsys.readouterr().err


@pytest.mark.thorough
def test_the_watchdog_is_silent_however_long_nobody_looks(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.run_to_seal()
    comments = story.comments
    later = datetime.now(UTC) + timedelta(days=30)
    monkeypatch.setattr(watchdog, "now", lambda: later)
    capsys.readouterr()
    assert story.herorun("watchdog", SLUG, "--comment", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    (value,) = document.get("runs", [document])
    assert (value["monitor"], value["why"]) == ("not-watched", f"sealed as {TAG}")
    assert story.comments == comments


@pytest.mark.thorough
def test_a_babysitter_says_that_there_is_nothing_to_watch(story: Story, capsys: CAPTURE) -> None:
    story.run_to_seal()
    for words in (("babysit", SLUG, "--once"), ("babysit", SLUG)):
        capsys.readouterr()
        assert story.herorun(*words) == 0
        assert mentions(capsys.readouterr().out, f"{SLUG}", "sealed", f"{TAG}", "monitor")
    assert story.tick("--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["run"], document["progress"], document["actions"]) == ("finished", "~4/4", [])
    assert story.herorun("status", SLUG, "--json") == 0
    assert json.loads(capsys.readouterr().out)["progress"] == "~4/4"
