"""What `herorun box timer` prints does what it says: its very command is run, in an environment as
bare as its host's.
"""

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from commands.answers import ask
from herorun.operations.remote.timer import SPARE, timer_of
from stories import SLUG, Story

CAPTURE = pytest.CaptureFixture[str]
PATH = (
    # systemd's own; cron's is shorter still
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)
WORD = re.compile(r'"((?:[^"\\]|\\.)*)"')


@pytest.fixture
def watched_story(story: Story) -> Story:
    """A run whose job nobody has started, looked at by its process."""
    story.sign(patrol={"process": "nobody-starts-[t]his", "gpu_sample_seconds": 0})
    return story


def argv_of(unit: str) -> list[str]:
    """As systemd reads an ExecStart line of quoted words."""
    (line,) = re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    words = [re.sub(r"\\(.)", r"\1", word) for word in WORD.findall(line)]
    assert " ".join(f'"{each}"' for each in WORD.findall(line)) == line
    return [word.replace("%%", "%").replace("$$", "$") for word in words]


@pytest.mark.thorough
def test_the_service_ticks_by_its_own_command_and_with_nothing_in_its_environment(
    watched_story: Story, capsys: CAPTURE
) -> None:
    document = ask(watched_story, capsys, "timer", SLUG, "--json").document
    (service,) = [file["text"] for file in document["files"] if file["path"].endswith(".service")]
    (folder,) = re.findall(r"^WorkingDirectory=(.*)$", service, re.MULTILINE)
    argv = argv_of(service)
    assert Path(argv[0]).parent == Path(sys.executable).parent
    words = ["env", "-i", f"PATH={PATH}", *argv]
    process = subprocess.run(
        words,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (process.returncode, process.stderr) == (1, ""), process
    assert re.match(r"\S+Z tiny: down \(.*no such process", process.stdout), process
    allowed_names = re.findall(r"^SuccessExitStatus=(.*)$", service, re.MULTILINE)[0].split()
    assert str(process.returncode) in allowed_names


@pytest.mark.thorough
def test_crons_line_ticks_and_writes_its_log_where_nothing_of_the_run_was_written_before(
    watched_story: Story, capsys: CAPTURE
) -> None:
    log = watched_story.work / ".herorun" / SLUG / "patrol.log"
    assert not log.parent.exists()
    line = ask(watched_story, capsys, "timer", SLUG, "--for", "cron").out
    # as cron hands it to the shell
    command = line.rstrip("\n").split(" ", 5)[5].replace("\\%", "%")
    env = {
        "PATH": "/usr/bin:/bin",
        "SHELL": "/bin/sh",
        "HOME": str(watched_story.home),
        "TMPDIR": str(watched_story.home),
    }
    process = subprocess.run(
        ["/bin/sh", "-c", command],
        env=env,
        cwd=watched_story.home,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (process.returncode, process.stdout, process.stderr) == (1, "", "")
    assert re.match(r"\S+Z tiny: down ", log.read_text())


def run_with(*channels: str) -> Any:
    return SimpleNamespace(
        slug="tiny",
        place=SimpleNamespace(reach=SimpleNamespace(connect=10.0, timeout=50.0)),
        repository=SimpleNamespace(top="/w"),
        channels=SimpleNamespace(all=channels),
        prepare=lambda: None,
    )


@pytest.mark.parametrize("host", ["systemd", "cron"])
def test_a_patrol_that_notifies_nobody_says_so(host: str) -> None:
    assert timer_of(run_with(), host, None, 1800).notifies_nobody
    assert not timer_of(run_with("PAGER"), host, None, 1800).notifies_nobody
    assert not timer_of(run_with(), host, "babysit", 1800).notifies_nobody  # it has an issue


@pytest.mark.parametrize("host", ["systemd", "cron"])
def test_a_tick_has_the_time_that_its_connection_may_take(host: str) -> None:
    timer = timer_of(run_with(), host, None, 1800)
    limit = round(60 + SPARE)
    assert (timer.host, timer.command, timer.seconds) == (host, "patrol", 1800)
    assert len(timer.files) == (2 if host == "systemd" else 0)
    assert (f"TimeoutStartSec={limit}\n" if timer.files else f" timeout {limit} ") in timer.text
