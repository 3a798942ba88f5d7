"""The families of commands, their earlier names, options after a command, a RUN left out."""

import json
import shutil
from pathlib import Path

import click
import pytest

from commands.answers import ask
from herorun import cli
from herorun.commands._families import ALIASES, BOX, FAMILIES
from stories import SLUG, Story
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
# The names that were promised first, each with the one that the help shows now.
PROMISED_NAMES = {
    "verify-seal": "verify",
    "logbook verify": "verify",
    "chain": "box chain",
    "patrol": "box patrol",
    "await": "box wait",
    "handbook": "box runbook",
    "watchers": "box watchers",
    "timer": "box timer",
    "watchdog": "box watchdog",
    **{name: name for name in ("init", "preflight", "launch", "babysit", "note", "ack", "approve")},
    **{name: name for name in ("deny", "pause", "stop", "status", "watch", "report", "doctor")},
    **{name: name for name in ("seal", "relaunch", "rollback", "fork", "handoff", "replay")},
    **{name: name for name in ("backtest", "compare", "triage", "goodput", "jobs", "schema")},
    **{name: name for name in ("explain", "waive", "demo")},
    **{name: name for name in ("checkpoints list", "checkpoints plan", "checkpoints prune")},
    "logbook show": "logbook show",
}


def command_of(words: str) -> click.Command:
    command: click.Command = cli.herorun
    for word in words.split():
        assert isinstance(command, click.Group), words
        child = command.get_command(click.Context(command), word)
        assert child is not None, words
        command = child
    return command


def options(command: click.Command) -> set[str]:
    return {name for parameter in command.params for name in parameter.opts}


def test_every_promised_name_works_and_takes_the_same() -> None:
    for name, present in PROMISED_NAMES.items():
        now, before = command_of(present), command_of(name)
        assert options(before) - {"run", "tag"} <= options(now), name
        assert before is now or not present.startswith("box "), name


def test_the_help_shows_each_command_once_by_family_in_a_line(capsys: CAPTURE) -> None:
    assert cli.run(["--help"]) == 0
    text = capsys.readouterr().out
    places = [text.index(f"\n{family}:\n") for family in FAMILIES]
    assert places == sorted(places)
    for family, names in FAMILIES.items():
        section = text.partition(f"\n{family}:\n")[2].partition("\n\n")[0].splitlines()
        assert [line.split()[0] for line in section] == list(names)
    assert max(map(len, text.splitlines())) <= 80
    assert not {name for name in ALIASES if f"\n  {name} " in text}
    assert set(BOX) == set(command_of("box").list_commands(click.Context(command_of("box"))))  # type: ignore[attr-defined]  # a group


def twice(story: Story, capsys: CAPTURE, *words: tuple[str, ...]) -> list[tuple[int, dict]]:  # type: ignore[type-arg]  # a document
    answers = []
    for each in words:
        capsys.readouterr()
        code = story.herorun(*each, "--json")
        answers.append((code, json.loads(capsys.readouterr().out)))
    return answers


def test_an_earlier_name_prints_the_same_document(story: Story, capsys: CAPTURE) -> None:
    story.init()
    for before, now in (
        (("logbook", "verify", SLUG), ("verify", SLUG)),
        (("timer", SLUG), ("box", "timer", SLUG)),
        (("watchdog", SLUG), ("box", "watchdog", SLUG)),
        (("verify-seal", "herorun/tiny/seal-9"), ("verify", "herorun/tiny/seal-9")),
    ):
        one, other = twice(story, capsys, before, now)
        assert one == other, now


# --- options of herorun itself, after the command -------------------------------------------------


def test_global_options_work_before_and_after_a_command(
    story: Story, capsys: CAPTURE, tmp_path: Path
) -> None:
    story.init()
    (story.work / "notes").write_text("todo")
    before = ask(story, capsys, "-q", "preflight", SLUG)
    assert before == ask(story, capsys, "preflight", SLUG, "--quiet")
    assert before.out.splitlines()[-1].startswith("BLOCKED")
    capsys.readouterr()
    assert cli.run(["preflight", "-q", SLUG, "-C", str(story.work)]) == 1
    assert capsys.readouterr().out == before.out
    assert cli.run(["logbook", "show", SLUG, "-C", str(story.work)]) == 0
    assert cli.run(["-C", str(tmp_path), "-q", "logbook", "-C", str(story.work), "show", SLUG]) == 0
    capsys.readouterr()
    assert cli.run(["-q", "preflight", SLUG, "-v", "-C", str(story.work)]) == 2
    assert mentions(capsys.readouterr().err, "exclude")


# --- a RUN that is left out -----------------------------------------------------------------------


def test_the_only_run_need_not_be_named(story: Story, capsys: CAPTURE) -> None:
    assert story.herorun("init") == 0
    assert story.herorun("preflight") == 0
    missed_answer = ask(story, capsys, "ack", "crashed")
    assert missed_answer.code == 2 and "crashed" in missed_answer.err and SLUG in missed_answer.err
    assert ask(story, capsys, "checkpoints", "list", "--json").code == 0
    assert ask(story, capsys, "verify", "--json").code == 0
    assert ask(story, capsys, "box", "timer", "--json").document["slug"] == SLUG
    (story.work / SLUG).mkdir()  # a folder of that name is not meant
    (failure,) = ask(story, capsys, "triage", "--json").document["files"]
    assert failure["file"] == SLUG


def test_of_two_runs_one_must_be_named(story: Story, capsys: CAPTURE) -> None:
    runs = story.work / "runs"
    shutil.copy(runs / "tiny.toml", runs / "other.toml")
    for words in (("seal",), ("stop",), ("babysit", "--once"), ("verify",), ("triage",)):
        assert story.herorun(*words) == 2, words
        assert mentions(capsys.readouterr().err, "here", "tiny"), words


def test_the_new_name_of_a_fork_may_resemble_that_of_the_only_run(
    story: Story, capsys: CAPTURE
) -> None:
    story.init()
    answer = ask(story, capsys, "fork", f"{SLUG}-2", "--reason", "another width")
    assert f"{SLUG} " in answer.err and "NEW" not in answer.err
    assert "NEW" in ask_usage(capsys, "-C", str(story.work), "fork", SLUG)


def test_a_command_of_a_family_is_suggested(story: Story, capsys: CAPTURE) -> None:
    for words, likely in ((("box", "patrl"), "patrol"), (("jobs", "lst"), "list")):
        answer = ask_usage(capsys, *words)
        assert likely in answer and f"herorun {words[0]} --help" in answer


def ask_usage(capsys: CAPTURE, *words: str) -> str:
    assert cli.run(words) == 2
    return capsys.readouterr().err
