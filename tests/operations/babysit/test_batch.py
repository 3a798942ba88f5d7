"""Several runs at once, and the documents that programs read."""

import json
import shlex
from pathlib import Path
from typing import Any

import click
import pytest

from commands.answers import ask
from herorun.cli import herorun
from herorun.core.errors import DEBUG, REPORT
from herorun.gate import finding_entries
from herorun.operations.babysit.batch import run_for_name, worst
from herorun.runs import watched_run
from herorun.system.clock import now
from herorun.system.git.plumbing import commit_files
from stories import SLUG, WAIT, Story
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
BROKEN_RUN = "aaa"  # comes before the other one


@pytest.fixture
def two(story: Story) -> Story:
    """A run that has ended well, and the record of another that cannot be read."""
    story.run_to_success()
    journal = {f".agents/logbooks/{BROKEN_RUN}.journal/20260101.jsonl": b"nonsense\n"}
    commit_files(
        story.run.repository, f"refs/herorun/record/{BROKEN_RUN}", None, journal, "x", now()
    )
    (story.work / "runs" / f"{BROKEN_RUN}.toml").write_text(
        (story.work / "runs" / "tiny.toml")
        .read_text()
        .replace('slug = "tiny"', f'slug = "{BROKEN_RUN}"')
    )
    return story


@pytest.mark.thorough
@pytest.mark.parametrize("which", [("--all",), (BROKEN_RUN, SLUG)])
def test_a_broken_run_does_not_blind_a_tick_of_the_others(
    two: Story, capsys: CAPTURE, which: tuple[str, ...]
) -> None:
    ticks = len(two.events("Decided"))
    answer = ask(two, capsys, "babysit", *which, "--once", "--json")
    broken_entry, fine = answer.document["runs"]
    assert broken_entry["slug"] == BROKEN_RUN and "damaged" in broken_entry["error"]
    assert (fine["slug"], fine["run"], fine["monitor"]) == (SLUG, "finished", "fresh")
    assert answer.code == 1 and mentions(answer.err, f"{BROKEN_RUN}", "damaged", "record")
    assert len(two.events("Decided")) == ticks + 1


@pytest.mark.thorough
@pytest.mark.parametrize("words", [("status", "--all", "--json"), ("status", "--json")])
def test_a_broken_run_does_not_blind_a_status(
    two: Story, capsys: CAPTURE, words: tuple[str, ...]
) -> None:
    answer = ask(two, capsys, *words)
    broken_entry, fine = answer.document["runs"]
    assert broken_entry.keys() == {"slug", "error"} and fine["run"] == "finished"
    assert answer.code == 1 and BROKEN_RUN in answer.err
    assert "tiny: finished" in ask(two, capsys, "status").out


@pytest.mark.thorough
@pytest.mark.parametrize("words", [("status", "--all"), ("status", "--all", "--json")])
def test_a_status_of_all_opens_each_run_once_and_tells_findings_only_where_they_are_shown(
    two: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    opened_slugs, shown_findings = [], []

    def opened_run(name: str, start: Path) -> Any:
        opened_slugs.append(name)
        return watched_run(name, start)

    def as_json(*finding: Any) -> Any:
        shown_findings.append(finding)
        return finding_entries(*finding)

    monkeypatch.setattr("herorun.operations.report.status.watched_run", opened_run)
    monkeypatch.setattr("herorun.operations.health.shared_polls.watched_run", opened_run)
    monkeypatch.setattr("herorun.operations.report.status.finding_entries", as_json)
    ask(two, capsys, *words)
    assert sorted(opened_slugs) == [BROKEN_RUN, SLUG]
    assert bool(shown_findings) == ("--json" in words)


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [KeyError, SystemExit, Unprintable])
def test_an_error_that_nobody_foresaw_is_that_of_its_run(
    kind: type[BaseException], two: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An adapter by somebody else may raise anything, already when its queries are noted."""

    def raises(*_: object) -> None:
        raise kind("queue")

    monkeypatch.setattr("herorun.operations.health.shared_polls.newest_intent", raises)
    for words in (["status"], ["babysit", "--once"]):
        capsys.readouterr()
        assert two.herorun(*words, "--all", "--json") == 1
        broken_entry, fine = json.loads(capsys.readouterr().out)["runs"]
        assert (broken_entry["slug"], fine["slug"]) == (BROKEN_RUN, SLUG)
        assert "damaged" in broken_entry["error"] and kind.__name__ in fine["error"]
        assert fine["error"].endswith(REPORT)
    monkeypatch.setenv(DEBUG, "1")
    with pytest.raises(kind):
        run_for_name(SLUG, raises)


@pytest.mark.thorough
def test_people_see_both_too(two: Story, capsys: CAPTURE) -> None:
    answer = ask(two, capsys, "babysit", BROKEN_RUN, SLUG, "--once")
    assert "tiny: finished" in answer.out and f"herorun: {BROKEN_RUN} " in answer.err


@pytest.mark.parametrize(
    ("codes", "one"), [([0, 2], 2), ([2, 3], 3), ([3, 1, 0], 1), ([0, 0], 0), ([], 0)]
)
def test_the_worst_code_counts(codes: list[int], one: int) -> None:
    assert worst(codes) == one


# --- documents ------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_tick_of_one_run_keeps_its_shape(story: Story, capsys: CAPTURE) -> None:
    story.run_first_job()
    document = ask(story, capsys, "babysit", SLUG, "--once", "--json").document
    promised_keys = ["schema", "run", "monitor", "progress", "findings", "alerts", "actions"]
    assert list(document)[: len(promised_keys)] == promised_keys
    assert (document["doubts"], document["contract"], document["pushed"]) == (
        [],
        "as admitted",
        True,
    )


def test_a_status_names_the_log_of_the_newest_instance(story: Story, capsys: CAPTURE) -> None:
    assert ask(story, capsys, "status", SLUG, "--json").document["log"] == ""
    story.run_first_job()
    log = str(story.jobs / "tiny-1" / "job.log")
    assert ask(story, capsys, "status", SLUG, "--json").document["log"] == log
    output = ask(story, capsys, "status", SLUG).out
    assert "  log        /" in output and "job.log" in output


@pytest.mark.thorough
def test_drift_and_a_record_that_is_not_pushed_are_in_both_documents(
    story: Story, capsys: CAPTURE
) -> None:
    story.run_first_job(WAIT)
    story.sign(checkpoints={"keep": 3})
    story.refuse_pushes()
    capsys.readouterr()
    story.herorun("babysit", SLUG, "--once", "--json")
    tick = json.loads(capsys.readouterr().out)  # what it tells besides stands on the other stream
    status = ask(story, capsys, "status", SLUG, "--json").document
    for document in (tick, status):
        assert mentions(document["contract"], "runs/tiny.toml", "changed")
        (doubt,) = document["doubts"]
        assert mentions(doubt, "contract-drift", document["contract"], "admitted")
        assert document["pushed"] is False


@pytest.mark.thorough
def test_the_loop_prints_one_line_a_tick(
    story: Story, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    story.run_first_job()
    capsys.readouterr()
    assert story.herorun("babysit", SLUG, "--json") == 0
    ticks = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [tick_document["run"] for tick_document in ticks] == ["finished", "finished"]
    assert {tick_document["schema"] for tick_document in ticks} == {1}


# --- what comes next ------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_status_says_what_comes_next(story: Story, capsys: CAPTURE) -> None:
    command = story.shown_commands("herorun init tiny")
    assert f"next       {command}\n" in ask(story, capsys, "status", SLUG).out
    story.init()
    assert ask(story, capsys, "status", SLUG, "--json").document["next"] == "herorun preflight tiny"
    story.launch()
    story.wait_for_end()
    assert ask(story, capsys, "status", SLUG, "--json").document["next"] == "herorun seal tiny"


@pytest.mark.thorough
def test_the_line_that_watches_can_be_pasted(story: Story, capsys: CAPTURE) -> None:
    other = story.clone("a b")
    other.init()
    path = str(other.work / "runs" / "tiny.toml")
    out = ask(other, capsys, "launch", path, "--no-babysit").out
    other.wait_for_end()
    line = out.partition("next: ")[2].splitlines()[0]
    assert shlex.split(line) == ["herorun", "-C", str(other.work), "babysit", path]


# --- help -----------------------------------------------------------------------------------------


def leaves(command: click.Command, name: str) -> list[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        return [(name, command)]
    context = click.Context(command)
    commands = [
        (child, command.get_command(context, child)) for child in command.list_commands(context)
    ]
    return [
        leaf
        for child, it in commands
        if it and not it.hidden
        for leaf in leaves(it, f"{name} {child}")
    ]


def test_every_commands_help_has_an_example_of_itself() -> None:
    examples = {
        name: (command.help or "").partition("Example:")[2]
        for name, command in leaves(herorun, "herorun")
    }
    assert [name for name, example in examples.items() if name not in example] == []


@pytest.mark.parametrize("option", ["--status", "--evidence", "--decision", "--next"])
def test_a_note_wants_all_four(story: Story, capsys: CAPTURE, option: str) -> None:
    words = {"--status": "s", "--evidence": "e", "--decision": "d", "--next": "n"}
    del words[option]
    capsys.readouterr()
    assert story.herorun("note", SLUG, *(w for pair in words.items() for w in pair)) == 2
    assert option in capsys.readouterr().err


def test_an_unknown_check_suggests_the_near_one(story: Story, capsys: CAPTURE) -> None:
    answer = ask(story, capsys, "explain", "dirty-trees")
    assert answer.code == 2 and mentions(answer.err, "mean", "dirty-tree")
