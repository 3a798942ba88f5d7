"""`babysit --job` asks on a real terminal for what it needs and was not told; without one it says
what is missing.
"""

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from wording import mentions

SOURCES = str(Path(__file__).parents[2] / "src")
Start = Callable[..., "Terminal"]


class Terminal:
    """`herorun babysit --once` whose controlling terminal is a real one: a typed ctrl-C is a
    signal.
    """

    def __init__(self, folder: Path, *words: str) -> None:
        self._end, other = pty.openpty()
        argv = ["setsid", "--ctty", sys.executable, *command(folder, *words)]
        self.process = subprocess.Popen(
            argv, stdin=other, stdout=other, stderr=other, env=environment(folder)
        )
        self.screen = ""
        os.close(other)

    def answers(self, question: str, typed_text: str) -> None:
        """What is typed at the next such question."""
        self._reads_until(lambda: re.search(question, self.screen) is not None)
        self.screen = self.screen[re.search(question, self.screen).end() :]
        os.write(self._end, typed_text.encode())

    def wait_for_end(self) -> tuple[int, str]:
        self._reads_until(lambda: False)
        return self.process.wait(30), self.screen.replace("\r\n", "\n")

    def _reads_until(self, enough: Callable[[], bool]) -> None:
        until = time.monotonic() + 30
        while not enough():
            assert select.select([self._end], [], [], max(0.0, until - time.monotonic()))[0], (
                self.screen
            )
            try:
                self.screen += os.read(self._end, 65536).decode()
            except OSError:  # Linux calls it an error that the other end is gone
                return

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._end)


def command(folder: Path, *words: str) -> list[str]:
    return ["-m", "herorun", "-C", str(folder), "babysit", "--once", *words]


def environment(folder: Path) -> dict[str, str]:
    home = {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("STATE", "CONFIG")}
    return {**os.environ, **home, "PYTHONPATH": SOURCES, "TERM": "dumb", "COLUMNS": "500"}


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Start]:
    terminals: list[Terminal] = []

    def start(*words: str) -> Terminal:
        terminals.append(Terminal(tmp_path, *words))
        return terminals[-1]

    yield start
    for each in terminals:
        each.close()


def state(folder: Path) -> Any:
    (path,) = (folder / "scratch").iterdir()
    return json.loads(path.read_text())


@pytest.mark.thorough
def test_what_the_scheduler_needs_is_asked_once_the_scheduler_is_reported(
    at: Start, tmp_path: Path
) -> None:
    terminal = at("--job", "ray-run-1")
    terminal.answers(r"scheduler \(iris, .*slurm.*\): ", "rey\n")
    terminal.answers(r"'rey' is not a scheduler.*\n.*scheduler.*: ", "ray\n")
    terminal.answers("cluster: ", "\n")
    terminal.answers("cluster: ", "us-east5-a\n")
    terminal.answers(r"'us-east5-a' is not a known cluster(?s:.*)cluster: ", "http://127.0.0.1:9\n")
    terminal.answers("experiment: ", "experiments/isoflop_sweep.py\n")
    terminal.answers(r"resubmit command \(empty: .*\): ", "\n")
    code, output = terminal.wait_for_end()
    assert (code, ": unknown, neither" in output) == (3, True), output  # nobody listens there
    state_document = state(tmp_path)
    facts = state_document["job_id"], state_document["cluster"], state_document["experiment"]
    assert facts == ("ray-run-1", "http://127.0.0.1:9", "experiments/isoflop_sweep.py")


@pytest.mark.thorough
def test_a_config_is_taken_by_the_short_name_of_its_cluster(at: Start, tmp_path: Path) -> None:
    config = tmp_path / "lib" / "iris" / "examples" / "marin-dev.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("controller: {}\n")
    terminal = at("--scheduler", "iris")
    terminal.answers(r"job \(the canonical name /<user>/<job>.*\): ", "train-tiny\n")
    terminal.answers(
        r"'train-tiny' is not the id of an iris job(?s:.*)job \(.*\): ", "/dlwh/train-tiny\n"
    )
    terminal.answers("config, or the short name of the cluster: ", "nowhere.yaml\n")
    terminal.answers(r"There is no .*nowhere\.yaml(?s:.*)cluster: ", "marin_dev\n")
    command = "iris job run --no-wait -- python train.py"
    terminal.answers("resubmit command .*: ", f"{command}\n")
    assert terminal.wait_for_end()[0] == 3
    state_document = state(tmp_path)
    assert (state_document["job_id"], state_document["config"]) == ("/dlwh/train-tiny", str(config))
    assert state_document["resubmit_command"] == command


@pytest.mark.thorough
def test_the_end_of_the_input_is_no_answer_and_the_sentence_says_what_is_missing(
    at: Start, tmp_path: Path
) -> None:
    terminal = at("--scheduler", "ray")
    terminal.answers(r"job \(.*\): ", "ray-run-1\n")
    terminal.answers("cluster: ", "\x04")
    code, output = terminal.wait_for_end()
    assert (code, output.count("herorun: ")) == (2, 1)
    assert mentions(output, "contract", "--cluster", "--experiment")
    assert not (tmp_path / "scratch").exists()


@pytest.mark.thorough
def test_an_interruption_at_a_question_ends_with_130(at: Start) -> None:
    terminal = at("--scheduler", "ray")
    terminal.answers(r"job \(.*\): ", "\x03")
    code, output = terminal.wait_for_end()
    assert code == 130 and "herorun: interrupted." in output and "Traceback" not in output


@pytest.mark.thorough
def test_without_a_terminal_one_sentence_names_what_is_missing(tmp_path: Path) -> None:
    words = [sys.executable, *command(tmp_path, "--scheduler", "ray", "--job", "ray-run-1")]
    process = subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment(tmp_path),
        timeout=60,
        check=False,
    )
    assert (process.returncode, process.stdout) == (2, "")
    (line,) = process.stderr.splitlines()
    assert mentions(line, "herorun: ", "needs", "--cluster", "--experiment")
