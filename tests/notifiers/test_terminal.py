"""The terminal: the contract suite, then what is special about a screen."""

import io
import os
import subprocess
import sys
import termios
from pathlib import Path

import pytest

import herorun
from herorun.core.ports import Notifier, Place
from herorun.notifiers import terminal
from ports.notifier_suite import NotifierBench, NotifierSuite, a_post

SRC = str(Path(herorun.__file__).parents[1])


class Bench:
    def __init__(
        self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self._place = Place("tiny", str(folder), "/data/tiny", ".")
        self._capsys = capsys
        self._patch = monkeypatch
        self._output = ""

    def connect(self) -> Notifier:
        return terminal.connect(terminal.Options(), self._place)

    def read_messages(self) -> str:
        self._output += self._capsys.readouterr().err
        return self._output

    def cut_off(self) -> None:
        self._patch.setattr(sys, "stderr", None)


@pytest.fixture
def bench(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Bench:
    return Bench(tmp_path, capsys, monkeypatch)


class TestTerminal(NotifierSuite):
    can_be_asked = False

    @pytest.fixture
    def bench(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> NotifierBench:
        return Bench(tmp_path, capsys, monkeypatch)


def test_a_block_is_short_and_plain(bench: Bench) -> None:
    bench.connect().post(a_post(body="It ended.\n\nexit code 1"))
    assert bench.read_messages() == "tiny: tiny-1 crashed\n  It ended.\n  exit code 1\n"


def test_a_long_body_is_cut_and_says_so(bench: Bench) -> None:
    bench.connect().post(a_post(body="\n".join(["x" * 3000] * 100)))
    lines = bench.read_messages().splitlines()
    assert len(lines) == 1 + terminal.MAX_LINES + 1
    assert lines[-1] == "  ... (80 more lines)"
    assert max(map(len, lines)) == terminal.MAX_LINE_LENGTH


def test_what_would_steer_the_terminal_is_written_out(bench: Bench) -> None:
    bench.connect().post(
        a_post(title="a\x1b]0;b\x07\nc", body="\x1b[2J\rhidden \u202e \x9b31m \udcff\tdone")
    )
    assert bench.read_messages() == (
        "tiny: a\\x1b]0;b\\x07 c\n  \\x1b[2J\\rhidden \\u202e \\x9b31m \\udcff\tdone\n"
    )


def test_another_run_of_this_process_has_its_own_keys(bench: Bench, tmp_path: Path) -> None:
    bench.connect().post(a_post())
    other = terminal.connect(terminal.Options(), Place("other", str(tmp_path), "/data", "."))
    assert other.find(a_post().key) is None


def test_a_closed_stream_is_an_error_and_the_post_was_not_said(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        closed_file = io.StringIO()
        closed_file.close()
        patch.setattr(sys, "stderr", closed_file)
        with pytest.raises(OSError, match=r"standard.*error"):
            bench.connect().post(a_post())
    assert bench.connect().find(a_post().key) is None
    bench.connect().post(a_post())
    assert "It ended." in bench.read_messages()


@pytest.mark.parametrize(
    ("environment", "is_coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
def test_only_a_terminal_gets_bold_and_only_if_it_may(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], is_coloured: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    screen, line = os.openpty()
    with os.fdopen(line, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        bench.connect().post(a_post())
        output = os.read(screen, 4096)
    os.close(screen)
    assert (b"\x1b[1mtiny: tiny-1 crashed\x1b[0m" in output) is is_coloured
    assert (b"\x1b" in output) is is_coloured


def test_a_line_is_broken_at_the_width_of_the_terminal(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("COLUMNS", raising=False)
    text = "tiny-1 ended as failed: the error in its log is at `herorun logs tiny --instance 1`"
    screen, line = os.openpty()
    termios.tcsetwinsize(line, (24, 40))
    with os.fdopen(line, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        bench.connect().post(a_post(body=text))
        _, *rows = os.read(screen, 4096).decode().splitlines()
    os.close(screen)
    assert len(rows) > 1 and max(map(len, rows)) <= 40
    assert any("`herorun logs tiny --instance 1`" in row for row in rows)
    assert rows[0].startswith("  t") and all(row.startswith("    ") for row in rows[1:])
    assert " ".join(" ".join(rows).split()) == text


SAY = """
from herorun.core.ports import Place, Post
from herorun.notifiers.terminal import Options, connect
notifier = connect(Options(), Place("tiny", "state", "/data", "."))
print(notifier.find("key"))
notifier.post(Post("key", "title 日本", "body"))
notifier.post(Post("key", "title 日本", "body"))
print(notifier.find("key"))
"""


@pytest.mark.thorough
def test_a_restarted_process_says_it_again_and_standard_output_stays_clean() -> None:
    plain = {"PYTHONPATH": SRC, "PYTHONIOENCODING": "ascii", "PATH": os.environ["PATH"]}
    for _ in range(2):
        process = subprocess.run(
            [sys.executable, "-c", SAY], env=plain, capture_output=True, timeout=60
        )
        assert process.stderr == b"tiny: title \\u65e5\\u672c\n  body\n"
        assert process.stdout == b"None\nstandard error\n"
