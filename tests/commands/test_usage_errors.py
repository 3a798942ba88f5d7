"""Whoever mistypes a command is told what is wrong, and what to type."""

import json
from pathlib import Path

import pytest

from herorun import cli
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]

TYPOS = {
    ("lunch", "tiny"): ("'lunch'. Did you mean 'launch'?", "`herorun --help` lists"),
    ("help",): ("Type `herorun --help`.",),
    ("version",): ("Type `herorun --version`.",),
    ("launch", "tiny", "--force"): ("There is no --force", "`herorun waive CHECK RUN`"),
    ("watch", "--once"): ("--once", "status RUN`", "`herorun status --all`"),
    ("status", "--jsn"): (
        "'--json'",
        "herorun status grug",
        "`herorun status --help`",
    ),
    ("fork",): ("Missing: RUN, NEW.",),
    ("fork", "tiny"): ("Missing argument 'NEW'.",),
    ("pause", "tiny"): ("Missing option '--until'.", "  herorun pause grug --until 2h"),
    ("logbook", "tiny"): ("No such command 'tiny'.", "  herorun logbook show grug"),
    ("logbook", "show"): ("Missing argument 'RUN'.", "  herorun logbook show grug"),
}


@pytest.mark.parametrize("words", TYPOS, ids=" ".join)
def test_a_mistyped_command_is_answered_with_what_to_type(
    words: tuple[str, ...], capsys: CAPTURE, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # no run, which could be meant where none is named
    assert cli.run(list(words)) == 2
    output = capsys.readouterr()
    assert (
        output.out == ""
        and output.err.startswith("herorun: ")
        and len(output.err.splitlines()) <= 7
    )
    assert [part for part in TYPOS[words] if part not in output.err] == []


ORDERS = [
    "launch",
    "stop",
    "relaunch",
    "rollback",
    "fork",
    "handoff",
    "seal",
    "approve",
    "deny",
    "pause",
    "resume",
]


@pytest.mark.parametrize("order", ORDERS)
def test_an_order_takes_yes_and_a_clean_up_does_not(
    order: str, tmp_path: Path, capsys: CAPTURE
) -> None:
    assert cli.run(["-C", str(tmp_path), order, "tiny", "--yes"]) == 2
    assert "--yes" not in capsys.readouterr().err  # it is some other thing that is missing
    assert cli.run(["checkpoints", "prune", "tiny", "--plan", "p.json", "--yes"]) == 2
    assert "'--yes'" in capsys.readouterr().err


def test_the_schema_as_a_document_has_its_number(capsys: CAPTURE) -> None:
    assert cli.run(["schema", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert cli.run(["schema"]) == 0
    assert document == {"schema": 1, **json.loads(capsys.readouterr().out)}


def test_a_run_that_was_not_named_is_offered_by_name(tmp_path: Path, capsys: CAPTURE) -> None:
    (tmp_path / ".git").mkdir()
    assert cli.run(["-C", str(tmp_path), "seal"]) == 2
    assert mentions(capsys.readouterr().err, "here", f"`herorun -C {tmp_path} init", "RUN")
    (tmp_path / "runs").mkdir()
    for slug in ("grug", "tiny"):
        (tmp_path / "runs" / f"{slug}.toml").write_text(f'slug = "{slug}"\n')
    assert cli.run(["-C", str(tmp_path), "seal"]) == 2
    assert mentions(capsys.readouterr().err, "grug", "tiny")


def test_a_group_without_a_word_shows_its_help(capsys: CAPTURE) -> None:
    assert cli.run(["logbook"]) in (0, 2)
    output = capsys.readouterr()
    assert "Commands:" in output.out + output.err and "herorun: " not in output.err
