"""With -C DIR, every proposed command works in the directory where the person typed theirs."""

import json
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from herorun import cli
from stories import CRASH, SLUG, Story

CAPTURE = pytest.CaptureFixture[str]
PROPOSAL = re.compile(r"`(herorun [^`]+ [^`]+)`|  next +(herorun .+)")
WHY = ("--reason", "why")


@pytest.fixture
def elsewhere(story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Story, str]:
    """A folder without a run, and how the story's is named from there."""
    (tmp_path / "a b").symlink_to(story.work)
    monkeypatch.chdir(tmp_path)
    return story, "a b"


def proposals(capsys: CAPTURE, folder: str, argv: Sequence[str], code: int = 0) -> list[str]:
    capsys.readouterr()
    assert cli.run(["-C", folder, *argv]) == code
    return commands_in(capsys.readouterr())


def commands_in(texts: Sequence[str]) -> list[str]:
    return [a or b for text in texts for a, b in PROPOSAL.findall(text)]


def must_work(capsys: CAPTURE, folder: str, commands: Sequence[str], verb: str) -> None:
    """Types the one with this verb."""
    prefix = ["herorun", "-C", folder]
    split = [shlex.split(command) for command in commands]
    assert split and all(words[:3] == prefix for words in split), commands
    (words,) = [words for words in split if words[3] == verb]
    assert cli.run(words[1:]) in (0, 1, 3), capsys.readouterr().err


def test_the_next_command_of_a_status(elsewhere: tuple[Story, str], capsys: CAPTURE) -> None:
    story, folder = elsewhere
    assert story.init() == 0
    commands = proposals(capsys, folder, ["status", SLUG])
    must_work(capsys, folder, commands, "preflight")


def test_what_a_pause_and_its_refusal_propose(
    elsewhere: tuple[Story, str], capsys: CAPTURE
) -> None:
    story, folder = elsewhere
    story.run_first_job(CRASH)
    commands = proposals(capsys, folder, ["pause", SLUG, "--until", "2h", *WHY])
    must_work(capsys, folder, commands, "resume")


@pytest.mark.thorough
def test_what_a_stop_and_an_acknowledgement_propose(
    elsewhere: tuple[Story, str], capsys: CAPTURE
) -> None:
    story, folder = elsewhere
    story.sign(babysit={"recovery": "ask"})
    story.run_first_job(CRASH)
    assert story.tick() == 1
    commands = proposals(capsys, folder, ["ack", SLUG])
    must_work(capsys, folder, commands, "status")
    commands = proposals(capsys, folder, ["stop", SLUG, *WHY])
    must_work(capsys, folder, commands, "status")


@pytest.mark.thorough
def test_what_a_fork_proposes(elsewhere: tuple[Story, str], capsys: CAPTURE) -> None:
    story, folder = elsewhere
    story.run_first_job(CRASH)
    commands = proposals(capsys, folder, ["fork", SLUG, "tiny-b", *WHY])
    story.publish()
    must_work(capsys, folder, commands, "fork")


def test_an_error_has_the_folder_too(elsewhere: tuple[Story, str], capsys: CAPTURE) -> None:
    _, folder = elsewhere
    commands = proposals(capsys, folder, ["note", SLUG, "a text"], 1)
    must_work(capsys, folder, commands, "init")


def test_json_has_no_folder_not_even_in_an_error(
    elsewhere: tuple[Story, str], capsys: CAPTURE
) -> None:
    """It may be read anywhere; only the message on the screen is for the person who types."""
    story, folder = elsewhere
    note = ["note", SLUG, "a text", "--json"]
    capsys.readouterr()
    assert cli.run(["-C", folder, *note]) == 1
    out, err = capsys.readouterr()
    assert commands_in([json.loads(out)["error"]]) == [f"herorun init {SLUG}"]
    assert shlex.split(*commands_in([err])) == ["herorun", "-C", folder, "init", SLUG]
    assert story.init() == 0
    capsys.readouterr()
    assert cli.run(["-C", folder, "status", SLUG, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["next"] == f"herorun preflight {SLUG}"


def test_a_person_in_the_folder_types_no_option(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in a process that had the option before."""
    assert story.init() == 0
    monkeypatch.chdir(story.work)
    capsys.readouterr()
    assert cli.run(["status", SLUG]) == 0
    assert commands_in(capsys.readouterr()) == [f"herorun preflight {SLUG}"]


def test_the_option_after_the_command_is_the_same(
    elsewhere: tuple[Story, str], capsys: CAPTURE
) -> None:
    story, folder = elsewhere
    assert story.init() == 0
    capsys.readouterr()
    assert cli.run(["status", SLUG, "-C", folder]) == 0
    (command,) = commands_in(capsys.readouterr())
    assert shlex.split(command)[:3] == ["herorun", "-C", folder]
    assert os.path.samefile(folder, story.work)
