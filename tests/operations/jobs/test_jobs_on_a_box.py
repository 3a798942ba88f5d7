"""A process on a rented box, by its number and an alias of ssh: nobody wrote a contract for it."""

import json
import os
import shlex
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.answers import Answer
from herorun import cli
from herorun.schedulers.external import ssh
from services.boxes import Box
from stories import eventually
from wording import mentions

pytestmark = pytest.mark.back_end

CAPTURE = pytest.CaptureFixture[str]
TRAIN = "echo step 7/20; until [ -e go ]; do sleep 0.1; done; echo step 9/20"


@pytest.fixture
def here(tmp_path: Path, box: Box, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without a repository, whose user has the box in the configuration of ssh."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    program = tmp_path / "bin" / "ssh"
    program.parent.mkdir()
    real = shutil.which("ssh")
    program.write_text(f'#!/bin/sh\nexec {real} -F {shlex.quote(str(box.config))} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(ssh, "CONNECT", 1.0)
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


@pytest.fixture
def pid(box: Box, tmp_path: Path) -> Iterator[str]:
    """Started by hand over ssh, its output in a file."""
    folder = f"{box.home}/{tmp_path.name}"
    box.ssh(f"mkdir -p {folder}")
    start = f"cd {folder}; nohup sh -c {shlex.quote(TRAIN)} train.py > train.log 2>&1 & echo $!"
    number = box.ssh(start).stdout.strip()
    yield number
    box.fix()
    box.ssh(f"kill -9 {number} 2>/dev/null; rm -rf {folder}", check=False)


def babysit(here: Path, capsys: CAPTURE, *words: str) -> Answer:
    capsys.readouterr()
    code = cli.run(["-C", str(here), "babysit", *words])
    output = capsys.readouterr()
    assert "Traceback" not in output.err
    return Answer(code, output.out, output.err)


def test_a_number_and_a_host_are_enough(here: Path, box: Box, pid: str, capsys: CAPTURE) -> None:
    first = babysit(here, capsys, "--job", pid, "--host", box.name, "--once")
    assert "~7/20" in first.out and "healthy" in first.out, first
    assert f"process {pid} is `sh -c" in first.err and "train.py" in first.err
    (state,) = (here / "scratch").iterdir()
    document = json.loads(state.read_text())
    assert (document["host"], document["job_id"]) == (box.name, pid)

    box.ssh(f"touch -d '3 hours ago' $(readlink /proc/{pid}/cwd)/train.log")
    shutil.rmtree(here.parent / "state")
    old = babysit(here, capsys, "--job", pid, "--host", box.name, "--once")
    assert old.code == 3 and "starting" in old.out, old  # older than the process itself

    box.cut()
    began = time.monotonic()
    cut = babysit(here, capsys, "--job", pid, "--host", box.name, "--once")
    assert cut.code == 3 and "unknown" in cut.out and "gone" not in cut.out
    assert time.monotonic() - began < 60
    box.fix()

    box.ssh(f"touch $(readlink /proc/{pid}/cwd)/go")
    eventually(lambda: bool(box.ssh(f"kill -0 {pid}", check=False).returncode))
    answer = babysit(here, capsys, "--job", pid, "--host", box.name, "--once")
    assert answer.code == 3, answer  # nobody recorded how it ended
    assert "~9/20" in answer.out and mentions(
        answer.out + answer.err, "unknown", "no record", "ended"
    )


def test_a_number_that_nothing_has_there_is_wrong_use(
    here: Path, box: Box, capsys: CAPTURE
) -> None:
    none = babysit(here, capsys, "--job", "4194000", "--host", box.name, "--once")
    assert none.code == 2 and mentions(none.err, "queue", "--scheduler")
    assert not (here / "scratch").exists()
