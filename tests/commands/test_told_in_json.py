"""What goes wrong where `--json` was asked for: standard output stays readable by a program,
whatever it was.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from herorun import cli, output
from herorun.commands import schema
from herorun.core.errors import CouldNotLook
from herorun.schemas import FailureDocument
from herorun.schemas.status import UnreadDocument
from stories import Story, eventually
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
ROW = UnreadDocument(slug="tiny", error="nobody answers")
SECRET = "ghp_" + "a1B2c3D4" * 5
SOURCES = str(Path(__file__).parents[2] / "src")


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], int]], int]:
    """Run a command that does what is said, and give its exit code."""

    def ran(does: Callable[[], int]) -> int:
        monkeypatch.setattr(schema.command, "callback", lambda **_: does())
        return cli.run(["schema", "--json"])

    return ran


def documents(capsys: CAPTURE) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def raise_interrupt() -> int:
    raise KeyboardInterrupt


def raise_error() -> int:
    raise RuntimeError(f"\x1b[31m{SECRET}")


def lines_then(end: Callable[[], int]) -> Callable[[], int]:
    def does() -> int:
        output.show_json_line(ROW)
        return end()

    return does


def raise_unread() -> int:
    raise CouldNotLook("nobody answers")


def test_an_interruption_is_a_document_of_one_line(
    command: Callable[..., int], capsys: CAPTURE
) -> None:
    assert command(raise_interrupt) == 130
    (failure,) = documents(capsys)
    assert FailureDocument.model_validate(failure) == FailureDocument(
        schema=1, error="interrupted.", exit_code=130
    )


def test_a_stream_that_fails_ends_with_a_line_that_says_so(
    command: Callable[..., int], capsys: CAPTURE
) -> None:
    assert command(lines_then(raise_unread)) == 3
    row, failure = documents(capsys)
    assert row["slug"] == "tiny" and (failure["error"], failure["exit_code"]) == (
        "nobody answers",
        3,
    )


def test_a_stream_that_is_interrupted_just_ends(
    command: Callable[..., int], capsys: CAPTURE
) -> None:
    assert command(lines_then(raise_interrupt)) == 130
    assert documents(capsys) == [ROW.as_json()]


def test_what_fails_after_a_document_prints_no_second_one(
    command: Callable[..., int], capsys: CAPTURE
) -> None:
    def does() -> int:
        output.show_json(ROW)
        return raise_unread()

    assert command(does) == 3
    assert json.loads(capsys.readouterr().out) == ROW.as_json()


def test_a_library_that_exits_is_no_reader_that_has_gone(
    command: Callable[..., int], capsys: CAPTURE
) -> None:
    """`sys.exit("no credentials")` in an adapter: it ended the command with 141 and no word."""

    def exits() -> int:
        raise SystemExit("no credentials")

    assert command(exits) == 3
    (failure,) = documents(capsys)
    assert "no credentials" in FailureDocument.model_validate(failure).error


@pytest.mark.parametrize("debug", ["", "1"])
def test_a_fault_of_ours_is_one_too_without_secrets_and_escapes(
    command: Callable[..., int], capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch, debug: str
) -> None:
    monkeypatch.setenv("HERORUN_DEBUG", debug)
    assert command(raise_error) == 3
    output = capsys.readouterr()
    assert FailureDocument.model_validate_json(output.out).exit_code == 3
    assert ("Traceback" in output.err) is bool(debug)
    assert "\x1b" not in output.err and SECRET not in output.out + output.err


def test_runs_that_cannot_be_watched_are_lines_of_their_own(story: Story, capsys: CAPTURE) -> None:
    assert story.herorun("babysit", "none", "neither", "--json") == 2
    rows = documents(capsys)
    assert {row["slug"] for row in rows} == {"none", "neither"}
    assert all("herorun init" in row["error"] and row["schema"] == 1 for row in rows)


@pytest.mark.parametrize(
    "words", [("status", "--json=1"), ("--json", "status"), ("checkpoints", "--json")]
)
def test_where_json_is_asked_for_wrongly_there_is_a_document_too(
    words: tuple[str, ...], capsys: CAPTURE
) -> None:
    assert cli.run(list(words)) == 2
    assert FailureDocument.model_validate_json(capsys.readouterr().out).exit_code == 2


def test_what_was_typed_is_reported_again_without_its_secrets(capsys: CAPTURE) -> None:
    assert cli.run(["backtest", SECRET]) == 2
    errors = capsys.readouterr().err
    assert mentions(errors, "exist") and SECRET not in errors


def herorun(*words: str, shell: str = "", cwd: Path) -> "subprocess.Popen[str]":
    line = f'exec "$@" {shell}'
    return subprocess.Popen(
        ["sh", "-c", line, "sh", sys.executable, "-m", "herorun", *words],
        env={**os.environ, "PYTHONPATH": SOURCES, "XDG_STATE_HOME": f"{cwd}/state"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
    )


@pytest.mark.thorough
def test_a_full_disk_under_the_document_and_a_closed_input_are_no_tracebacks(
    tmp_path: Path,
) -> None:
    process = herorun("status", "--json", shell=">/dev/full", cwd=tmp_path)
    assert mentions(text := process.communicate(timeout=60)[1], "repository")
    assert process.returncode == 2 and "Traceback" not in text
    process = herorun("babysit", "--job", "7", "--json", shell="<&-", cwd=tmp_path)
    assert (
        "needs --scheduler"
        in FailureDocument.model_validate_json(process.communicate(timeout=60)[0]).error
    )
    assert process.returncode == 2


LOST_INTERRUPT = """
import sys, time, click
from herorun import cli

class Dying:
    def __del__(self):
        raise KeyboardInterrupt

@click.command()
@click.option("--json", is_flag=True)
def command(**_):
    Dying()
    time.sleep(60)

cli.herorun.add_command(command, "list")
cli.herorun.get_command = lambda context, name: command
sys.argv = ["herorun", "list"]
cli.main()
"""


@pytest.mark.thorough
def test_an_interruption_that_a_destructor_hides_comes_again() -> None:
    process = subprocess.run(
        [sys.executable, "-c", LOST_INTERRUPT],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (process.returncode, process.stderr.strip()) == (130, "herorun: interrupted.")


@pytest.mark.thorough
def test_a_polite_kill_is_an_interruption(tmp_path: Path) -> None:
    """`timeout 60 herorun ... --json`, as a program calls it."""
    os.mkfifo(tmp_path / "log")
    reading = herorun("triage", "log", "--json", cwd=tmp_path)
    with (tmp_path / "log").open("w"):  # once it is opened there
        waits_in = Path(f"/proc/{reading.pid}/wchan")  # a signal just before a read waits with it
        eventually(lambda: "pipe" in waits_in.read_text())
        reading.send_signal(signal.SIGTERM)
        output, text = reading.communicate(timeout=60)
    assert (reading.returncode, FailureDocument.model_validate_json(output).exit_code) == (130, 130)
    assert text.strip() == "herorun: interrupted."
