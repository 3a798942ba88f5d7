"""What people expect of any command line: completion, --quiet, --verbose, a default RUN, a bar
while they wait.
"""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from rich.console import Console

from commands.answers import ask
from herorun import cli
from herorun.commands._completion import check_names
from herorun.commands._progress_bar import Bar
from herorun.discover import checks
from services.fixtures import skip_or_fail
from stories import CRASH, SLUG, Story
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]


# --- completion -----------------------------------------------------------------------------------


def completions(monkeypatch: pytest.MonkeyPatch, capsys: CAPTURE, words: str) -> list[str]:
    """What bash would offer for the last of the words."""
    monkeypatch.setenv("_HERORUN_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", f"herorun {words}")
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" "))))
    assert cli.run([]) == 0
    return [line.partition(",")[2] for line in capsys.readouterr().out.splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with two contracts and a config next to them."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "runs").mkdir()
    for name in ("grug", "grog"):
        (tmp_path / "runs" / f"{name}.toml").write_text(f'slug = "{name}"\n')
    (tmp_path / "runs" / "grug-config.toml").write_text("[trainer]\n")
    return tmp_path


@pytest.mark.parametrize(
    "command", ["status", "preflight", "babysit", "logbook show", "waive dirty-tree", "babysit x"]
)
def test_run_completes_to_the_contracts(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: CAPTURE, command: str
) -> None:
    assert completions(monkeypatch, capsys, f"-C {folder} {command} gr") == ["grog", "grug"]


def test_commands_and_checks_complete(monkeypatch: pytest.MonkeyPatch, capsys: CAPTURE) -> None:
    assert "preflight" in completions(monkeypatch, capsys, "pre")
    assert completions(monkeypatch, capsys, "explain dirty-t") == ["dirty-tree"]
    assert completions(monkeypatch, capsys, "waive dirty-t") == ["dirty-tree"]


def test_every_shipped_check_is_offered() -> None:
    assert {check.name for check in checks()} == set(check_names())


# What completes in each shell, once the printed script is sourced: the words typed so far, then
# Tab.
TAB = {
    "bash": """
source ./script
COMP_WORDS=(herorun explain dirty-t) COMP_CWORD=2
_herorun_completion herorun dirty-t explain
echo "${COMPREPLY[@]}"
""",
    "fish": """
source ./script
complete --do-complete "herorun explain dirty-t"
""",
    # zsh completes in its line editor alone, so one is typed at, in a terminal of its own.
    "zsh": """
zmodload zsh/zpty
zpty editor zsh -f -i
zpty -w editor 'PS1=; autoload -Uz compinit; compinit -u -d ./dump; source ./script; print READ''Y'
zpty -r editor seen '*READY*'
zpty -w -n editor $'herorun explain dirty-t\t'
zpty -r editor seen '*dirty-tree*'
print -r -- "$seen"
zpty -d editor
""",
}


@pytest.fixture(scope="module")
def beside_herorun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to work in, with `herorun` as a program of its own."""
    folder = tmp_path_factory.mktemp("shells")
    program = folder / "bin" / "herorun"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m herorun "$@"\n')
    program.chmod(0o755)
    return folder


@pytest.mark.parametrize("shell", TAB)
def test_the_printed_script_completes_in_the_shell_itself(
    beside_herorun: Path, shell: str, capsys: CAPTURE
) -> None:
    assert cli.run(["completion", shell]) == 0
    (beside_herorun / "script").write_text(capsys.readouterr().out)
    program = shutil.which(shell)
    if program is None:
        skip_or_fail(f"there is no {shell} here")
    env = {**os.environ, "PATH": f"{beside_herorun / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    env |= {"HOME": str(beside_herorun), "XDG_CONFIG_HOME": str(beside_herorun), "TERM": "dumb"}
    process = subprocess.run(
        [program, "-c", TAB[shell]],
        cwd=beside_herorun,
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "dirty-tree" in process.stdout, process


# --- how much is said -----------------------------------------------------------------------------


def test_quiet_keeps_what_is_open_and_the_verdict(story: Story, capsys: CAPTURE) -> None:
    story.init()
    (story.work / "notes").write_text("todo")
    loud = ask(story, capsys, "preflight", SLUG)
    answer = ask(story, capsys, "--quiet", "preflight", SLUG)
    assert (loud.code, answer.code) == (1, 1)
    assert "Plan of tiny" in loud.out and "more: herorun explain dirty-tree" in loud.out
    assert "Plan of tiny" not in answer.out and "✓" not in answer.out and "next:" not in answer.out
    assert "✗ fail    dirty-tree" in answer.out
    assert answer.out.splitlines()[-1].startswith("BLOCKED: 1 blocking, ")


def test_verbose_tells_what_was_read_on_standard_error_alone(story: Story, capsys: CAPTURE) -> None:
    story.init()
    capsys.readouterr()
    assert story.herorun("--verbose", "preflight", SLUG, "--json") == 0
    output = capsys.readouterr()
    assert "herorun: WorkTree in " in output.err and "herorun: runs git" in output.err
    assert output.out.startswith("{") and "WorkTree in" not in output.out


def test_what_one_command_was_told_counts_no_more_for_the_next(
    story: Story, capsys: CAPTURE
) -> None:
    assert ask(story, capsys, "-q", "doctor").out != ""
    assert "✓ ok      git: program" in ask(story, capsys, "doctor").out


@pytest.mark.parametrize("command", ["init", "status", "preflight", "verify"])
def test_quiet_leaves_out_the_next_step(story: Story, capsys: CAPTURE, command: str) -> None:
    story.run_first_job(CRASH)
    story.origin.rename(story.home / "away")
    whole, quiet = (ask(story, capsys, *flag, command, SLUG) for flag in ((), ("-q",)))
    (step,) = [line for line in whole.out.splitlines() if re.match(r" *next\b", line)]
    assert step not in quiet.out
    assert quiet.code == whole.code and quiet.out


def test_quiet_and_verbose_exclude_each_other(capsys: CAPTURE) -> None:
    assert cli.run(["-q", "-v", "schema"]) == 2
    assert mentions(capsys.readouterr().err, "exclude")


# --- [tool.herorun] -------------------------------------------------------------------------------


def test_the_settings_name_the_run_of_a_command_that_only_looks(
    story: Story, capsys: CAPTURE
) -> None:
    (story.work / "pyproject.toml").write_text(f'[tool.herorun]\nrun = "{SLUG}"\n')
    assert ask(story, capsys, "status", "--json").document["slug"] == SLUG
    runs = story.work / "runs"
    shutil.copy(runs / "tiny.toml", runs / "other.toml")
    assert ask(story, capsys, "status", "--json").document["slug"] == SLUG
    assert ask(story, capsys, "checkpoints", "list", "--json").code == 0
    assert f"init {SLUG}`" in ask(story, capsys, "verify", "--json").document["error"]
    for argv in (("launch",), ("checkpoints", "plan")):
        assert story.herorun(*argv) == 2, argv
        assert "Missing argument 'RUN'" in capsys.readouterr().err


def test_a_wrong_setting_is_one_sentence(story: Story, capsys: CAPTURE) -> None:
    (story.work / "pyproject.toml").write_text('[tool.herorun]\ncolour = "red"\n')
    answer = ask(story, capsys, "status")
    assert answer.code == 2 and "unknown key `colour`" in answer.err


def test_a_new_contract_begins_with_what_the_settings_say(story: Story, capsys: CAPTURE) -> None:
    (story.work / "pyproject.toml").write_text('[tool.herorun.init]\ndri = "@dri"\n')
    assert ask(story, capsys, "init", "new").code == 0
    assert (
        'dri = "@dri"  # from [tool.herorun.init]' in (story.work / "runs" / "new.toml").read_text()
    )


# --- while people wait ----------------------------------------------------------------------------


def drawn_screen(patience: float, *result: tuple[str, int, int | None]) -> str:
    out = io.StringIO()
    bar = Bar(patience, Console(file=out, force_terminal=True, width=80))
    for what, count, total in result or (("reading the world", 1, 4), ("reading the world", 4, 4)):
        bar(what, count, total)
    return out.getvalue()


def test_a_bar_is_shown_for_what_lasts_and_for_nothing_else() -> None:
    assert mentions(drawn_screen(0.0), "reading", "world")
    assert drawn_screen(60.0) == ""


def test_what_is_waited_for_within_something_does_not_take_its_bar_away() -> None:
    many, one = "looking at runs", "reading the world"
    text = drawn_screen(
        0.0, (many, 0, 2), (one, 1, 4), (one, 4, 4), (many, 1, 2), (many, 1, 1), (one, 1, 4)
    )
    assert text.index(many) < text.index("50%") < text.index(one)


def test_how_much_there_is_need_not_be_known() -> None:
    assert "reading rows" in drawn_screen(0.0, ("reading rows", 0, None), ("reading rows", 1, 1))


def test_what_shows_nothing_in_between_is_shown_once_it_lasts() -> None:
    """As a push does: nobody calls the bar until it is over."""
    drawn_once = threading.Event()

    class Told(io.StringIO):
        def write(self, words: str) -> int:
            if "pushing to origin" in words:
                drawn_once.set()
            return super().write(words)

    bar = Bar(0.01, Console(file=Told(), force_terminal=True, width=80))
    bar("pushing to origin", 0, None)
    assert drawn_once.wait(60)
    bar("pushing to origin", 1, 1)


def test_what_was_over_in_time_is_not_shown_late() -> None:
    out = io.StringIO()
    bar = Bar(0.05, Console(file=out, force_terminal=True, width=80))
    before = set(threading.enumerate())  # another test of this worker may have a timer too
    bar("pushing to origin", 0, None)
    (timer,) = [
        each
        for each in threading.enumerate()
        if isinstance(each, threading.Timer) and each not in before
    ]
    bar("pushing to origin", 1, 1)
    timer.join(20)
    assert out.getvalue() == ""


class ATerminal(io.StringIO):
    def isatty(self) -> bool:
        return True


LASTING = {
    "backtest": "reading long.csv",
    "triage": "reading long.log",
    "report": "drawing the curves",
    "status --all": "looking at runs",
    "launch": "pushing to origin",
}


@pytest.mark.thorough
@pytest.mark.parametrize("command", LASTING)
def test_what_may_last_shows_a_bar_on_a_terminal(
    story: Story, monkeypatch: pytest.MonkeyPatch, capsys: CAPTURE, command: str
) -> None:
    """With no patience at all, what takes a moment here is drawn as what takes minutes
    elsewhere.
    """
    csv, log = story.home / "long.csv", story.home / "long.log"
    files = {"backtest": str(csv), "triage": str(log), "report": SLUG, "launch": SLUG}
    csv.write_text("step,loss\n" + "".join(f"{n},{3 - n / 100}\n" for n in range(50)))
    log.write_text("step 1: loss 2.0\n" * 50)
    if command == "report":
        story.run_first_job()
        story.tick()
    if command == "launch":
        story.init()
    capsys.readouterr()
    terminal = ATerminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("herorun.commands._progress_bar.PATIENCE", 0.0)
    words = [*command.split(), *([files[command]] if command in files else []), "--json"]
    assert story.herorun(*words) == 0
    assert LASTING[command] in terminal.getvalue()
    assert json.loads(capsys.readouterr().out)["schema"] == 1


@pytest.mark.thorough
def test_nothing_is_drawn_where_nobody_looks(story: Story) -> None:
    argv = [sys.executable, "-m", "herorun", "-C", str(story.work), "status", SLUG]
    process = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert (process.returncode, process.stderr) == (0, "")
