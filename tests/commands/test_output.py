"""A closed or an ASCII output stops no act halfway."""

import os
import subprocess
import sys
import termios
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

from herorun.commands._output import ShownBeforeResult, show_lines
from herorun.core.markdown import defuse_mentions
from herorun.output import clean, console, hang, show_run_note
from herorun.output.findings import show_findings
from herorun.output.text_width import show_note
from herorun.system.terminal import fit
from stories import SLUG, Story
from wording import mentions

SOURCES = str(Path(__file__).parents[2] / "src")


def launched_through(story: Story, shell: str, **env: str) -> int:
    story.init()
    line = f'"{sys.executable}" -m herorun -C "{story.work}" launch {SLUG} --no-babysit {shell}'
    fields = {**os.environ, "PYTHONPATH": SOURCES, **env}
    return subprocess.run(
        ["sh", "-c", line], env=fields, capture_output=True, check=False
    ).returncode


def test_a_name_of_an_issues_title_can_be_copied_from_the_screen() -> None:
    assert clean(defuse_mentions("by ada@box\x1b")) == "by ada@box\ufffd"


@pytest.mark.thorough
def test_a_closed_output_is_no_failure(story: Story) -> None:
    assert launched_through(story, ">&-") == 0
    story.wait_for_end()
    assert len(story.starts) == 1


@pytest.mark.thorough
def test_an_ascii_output_is_no_failure(story: Story) -> None:
    assert launched_through(story, "", PYTHONIOENCODING="ascii") == 0
    story.wait_for_end()
    assert len(story.starts) == 1


def test_a_command_in_a_hanging_text_is_not_broken() -> None:
    out = Console(width=40)
    with out.capture() as capture:
        hang(out, "fix: ", "look at the rule (`git check-ignore -v FILE`), and change it")
    assert "`git check-ignore -v FILE`" in capture.get() and capture.get().count("\n") > 2


def test_a_path_that_is_too_long_continues_below_the_text() -> None:
    address = f"https://example.org/{'r' * 40}"
    text = f"  the file /data/{'x' * 60}/metadata.json is missing: {address}, see `{'y' * 50}`"
    first, *others = fit(text, 40).split("\n")
    assert first == "  the file" and all(line.startswith("    ") for line in others)
    short = [line for line in others if "://" not in line and "`" not in line]
    assert max(map(len, short)) == 40
    assert "".join(line.strip() for line in short[:3]).startswith(f"/data/{'x' * 60}/metadata.json")
    assert address in "".join(others) and f"`{'y' * 50}`" in "".join(others)


def test_text_behind_a_long_head_hangs_below_it() -> None:
    out = Console(width=40)
    with out.capture() as capture:
        hang(out, f"ok  store: {'x' * 25} ", "the bucket answers, and its rules keep every object")
    head, *rest = capture.get().splitlines()
    assert head.endswith("x") and len(rest) > 1
    assert all(line.startswith("    ") and line == line.rstrip() for line in rest)


def test_a_hash_is_cut_where_it_is_only_shown(capsys: pytest.CaptureFixture[str]) -> None:
    tree, commit = "sha256:" + 32 * "cd", 20 * "ab"
    show_lines(SimpleNamespace(code=0, lines=lambda: [f"differs: code_tree: {tree}"]), False)
    ShownBeforeResult("fork of tiny")(f"New identity: tiny-2, commit {commit}")
    output = capsys.readouterr()
    assert output.out.split()[-1] == "cdcdcdcdc" and output.err.split()[-1] == "ababababa"


def test_a_message_fits_the_terminal_that_shows_it() -> None:
    """Standard output is a file, and standard error a terminal of 40 columns."""
    leader, follower = os.openpty()
    termios.tcsetwinsize(follower, (24, 40))
    line = [sys.executable, "-m", "herorun", "status", "no-such-run"]
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    subprocess.run(line, stdout=subprocess.DEVNULL, stderr=follower, env=env, check=False)
    os.close(follower)
    lines = os.read(leader, 10_000).decode().splitlines()
    os.close(leader)
    assert len(lines) > 1 and all(" " not in row.strip() or len(row) <= 40 for row in lines)


@pytest.mark.parametrize("shell", ["2>/dev/full", "2>&-"])
def test_an_error_that_nobody_can_read_keeps_its_exit_code(shell: str) -> None:
    line = f'"{sys.executable}" -m herorun no-such-command {shell}'
    assert subprocess.run(["sh", "-c", line], check=False).returncode == 2


@pytest.mark.parametrize("text", ["0", "00", ""])
def test_a_terminal_without_a_width_shows_what_there_is(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", text)
    for on_terminal in (True, False):
        monkeypatch.setattr(sys.stdout, "isatty", lambda answer=on_terminal: answer)
        console().print("a line")
        assert capsys.readouterr().out.strip() == "a line"


@pytest.mark.parametrize(
    "text",
    ["a line", "two\nlines", "a\ttab", "blank ", "\x1b[31mred", "[b]", 300 * "w "],
)
def test_a_pipe_gets_the_text_that_rich_would_write(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    hang(console(), "  head ", text, "bold")
    console().print(text, style="red")
    output = capsys.readouterr().out
    by_rich = Console(soft_wrap=True, width=200, highlight=False, markup=False, emoji=False)
    by_rich.print(Text.assemble("  head ", Text(text)))
    by_rich.print(text)
    assert output == capsys.readouterr().out


def row(check: str, outcome: str, message: str = "m", **other: Any) -> dict[str, Any]:
    same = {
        "waiver": None,
        "details": [],
        "fix": f"fix {check}",
        "subject": "",
        "response": "block",
    }
    return {
        **same,
        "check": check,
        "outcome": outcome,
        "message": message,
        "caused_by": None,
        **other,
    }


def shown_lines(capsys: pytest.CaptureFixture[str], *rows: dict[str, Any]) -> list[str]:
    show_findings(console(), rows)
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_what_one_reason_hides_is_one_entry(capsys: pytest.CaptureFixture[str]) -> None:
    """As at a seal, where each alert that could not be looked for is a finding of its own."""
    cause = {"check": "surviving-job", "subject": "tiny-1"}
    alerts = [
        row("open-alerts", "unknown", subject=name, caused_by=cause)
        for name in ("crashed", "stalled-by-infrastructure")
    ]
    first = row("surviving-job", "unknown", "no answer", subject="tiny-1")
    cause_line, effects = shown_lines(capsys, first, *alerts)
    assert cause_line == "? unknown surviving-job no answer"
    assert mentions(effects, "unknown", "open-alerts (crashed, stalled-by-infrastructure)")


def test_six_marks_with_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them with --verbose; what passed or does not apply is no matter for a decision."""
    monkeypatch.setattr("herorun.system.progress.verbose", True)
    waiver = {"approved_by": "@ana", "reason": "known", "expires": "2026-02-01T00:00:00Z"}
    lines = shown_lines(
        capsys,
        row("dirty-tree", "fail", "1 change"),
        row("stale-container", "fail", "old", response="warn"),
        row("no-remote", "fail", "none", waiver=waiver),
        row("wrong-branch", "unknown", "no answer"),
        row("sealed-run", "pass", "not sealed"),
        row("bundle-mismatch", "n/a"),
    )
    waived_line = lines.pop(3)
    assert mentions(waived_line, "waived", "approved by @ana, until 2026-02-01T00:00:00Z: known")
    assert lines == [
        "✓ ok sealed-run not sealed",
        "- n/a bundle-mismatch",
        "~ waived no-remote none",
        "✗ fail dirty-tree 1 change",
        "fix: fix dirty-tree",
        "? unknown wrong-branch no answer",
        "fix: fix wrong-branch",
        "! warn stale-container old",
        "fix: fix stale-container",
    ]


@pytest.mark.parametrize("verbose", [False, True])
def test_details_beyond_the_first_are_shown_by_the_option_that_the_page_names(
    verbose: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("herorun.system.progress.verbose", verbose)
    names = [f"file-{number}" for number in range(12)]
    _, *lines = shown_lines(capsys, row("dirty-tree", "fail", details=names))
    assert lines[:10] == names[:10]
    assert (lines[10:-1] == names[10:]) is verbose
    assert verbose or mentions(lines[10], "2 more", "-v")


def test_a_cause_comes_with_what_follows_from_it(capsys: pytest.CaptureFixture[str]) -> None:
    cause = {"check": "dirty-tree", "subject": ""}
    hidden_rows = [row(f"check-{n}", "unknown", caused_by=cause) for n in range(8)]
    lines = shown_lines(
        capsys,
        *hidden_rows,
        row("no-record", "fail", caused_by=cause),
        row("other", "fail"),
        row("dirty-tree", "fail"),
    )
    first, effects, unchecked_line, *rest = lines
    assert first == "✗ fail dirty-tree m"
    assert mentions(effects, "causes: no-record")
    assert mentions(
        unchecked_line, "not checked", ": ", *(f"check-{n}" for n in range(6)), "2 more"
    )
    assert rest == ["fix: fix dirty-tree", "✗ fail other m", "fix: fix other"]


@pytest.mark.parametrize("columns", [24, 40, 80])
def test_a_message_is_wrapped_without_losing_a_word_or_breaking_a_command(columns: int) -> None:
    command = "`herorun rollback tiny --to 41000 --reason x`"
    message = (
        f"herorun: tiny cannot go on: run {command}, or ask its DRI.\n  line 3: {'word ' * 30}"
    )
    lines = fit(message, columns).split("\n")
    assert " ".join(" ".join(lines).split()) == " ".join(message.split())
    assert any(command in line for line in lines)
    assert all(len(line) <= columns or command in line for line in lines)
    assert all(line.startswith(" ") for line in lines[1:])


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("", "remote is sealed"),
        ("", "remote: no answer"),
        ("", "no run `remote` here"),
        ("remote: ", "Could not reach the remote in time"),
        ("remote: ", "no answer"),
    ],
)
def test_a_note_about_one_of_many_runs_names_it(
    capsys: pytest.CaptureFixture[str], head: str, message: str
) -> None:
    """Its slug may be a word of the message that means something else."""
    show_run_note("remote", message)
    assert capsys.readouterr().err == f"herorun: {head}{message}\n"


def test_a_message_in_a_pipe_stays_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    show_note("word " * 60, "herorun status tiny")
    assert capsys.readouterr().err.split("\n") == [
        "herorun: " + "word " * 60,
        "herorun status tiny",
        "",
    ]


def test_a_table_in_a_pipe_fits_an_ordinary_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert console().width == 80
