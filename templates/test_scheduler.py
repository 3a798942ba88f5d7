import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from herorun.core.errors import CouldNotLook
from herorun.core.evidence import JobState
from herorun.core.ports import Found, Place
from herorun.schedulers import jobq
from ports.scheduler_suite import Rig, SchedulerSuite, long_ago

# A queue that really runs what it is given, in a folder next to it. Yours is there already: use it,
# if tests may.
QUEUE = """\
import json, os, signal, subprocess, sys, time
from datetime import datetime, timezone

HOME = os.path.dirname(os.path.abspath(__file__)) + "/jobs"

def save(path, **row):
    with open(path + ".new", "w") as file:
        json.dump(row, file)
    os.replace(path + ".new", path)

def load(path):
    return json.load(open(path)) if os.path.exists(path) else {}

def now():
    return datetime.now(timezone.utc).isoformat()

def submit(options, argv):
    name = options["name"][0]
    home = f"{HOME}/{name}"
    os.makedirs(HOME, exist_ok=True)
    try:
        os.mkdir(home)
    except FileExistsError:
        return
    if os.fork() == 0:
        keep(home, options, argv)
    while not os.path.exists(f"{home}/started"):
        time.sleep(0.005)

def keep(home, options, argv):
    null = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(null, each)
    os.setsid()
    env = {name: os.environ[name] for name in ["PATH", *options.get("pass", [])]}
    env |= dict(pair.split("=", 1) for pair in options.get("env", []))
    with open(options["log"][0], "wb") as log:
        start_time = now()
        job = subprocess.Popen(argv, cwd=options["dir"][0], env=env, stdout=log, stderr=log, process_group=0)
        save(f"{home}/started", started=start_time, pid=job.pid)
        code = job.wait()
    save(f"{home}/ended", ended=now(), exit=code)
    os._exit(0)

def show(options, argv):
    for name in sorted(os.listdir(HOME)) if os.path.exists(HOME) else []:
        end, start = load(f"{HOME}/{name}/ended"), load(f"{HOME}/{name}/started")
        by = load(f"{HOME}/{name}/cancel").get("by") if end else None
        state = "cancelled" if by else "ended" if end else "running" if start else "waiting"
        times = {"exit": end.get("exit"), "started": start.get("started"), "ended": end.get("ended")}
        print(json.dumps({"name": name, "state": state, "by": by, **times}))

def cancel(options, argv):
    home = f"{HOME}/{argv[0]}"
    save(f"{home}/cancel", by=options["by"][0])
    os.killpg(load(f"{home}/started")["pid"], signal.SIGTERM)

options = {}
word, *rest = sys.argv[1:]
while rest and rest[0].startswith("--") and rest[0] != "--":
    key, _, value = rest.pop(0)[2:].partition("=")
    options.setdefault(key, []).append(value)
{"submit": submit, "list": show, "cancel": cancel}[word](options, rest[1:] if rest[:1] == ["--"] else rest)
"""  # noqa: E501  # a text that is read as it stands


def adapter(state: Path, program: Path) -> jobq.JobQueue:
    return jobq.connect(
        jobq.Options(program=str(program)), Place("tiny", str(state), "/out", "/repository")
    )


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    program, code, state = tmp_path / "jobq", tmp_path / "code", tmp_path / "state"
    program.write_text(f"#!{sys.executable} -IS\n{QUEUE}")
    program.chmod(0o755)
    code.mkdir()
    rig = Rig(
        connect=lambda: adapter(state, program),
        blind=lambda: adapter(state, tmp_path / "missing"),
        traces=lambda: (path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()),
        code=code,
    )
    yield rig
    kill_all(tmp_path / "jobs")


def kill_all(jobs: Path) -> None:
    """What a test has left running, also one that failed: no job is asked, each is killed."""
    for start_file in jobs.glob("*/started"):
        with suppress(ProcessLookupError):
            os.killpg(json.loads(start_file.read_text())["pid"], signal.SIGKILL)


class TestJobQueue(SchedulerSuite):
    """What every scheduler must do."""


def test_a_word_that_we_do_not_know_is_unknown_and_not_a_crash() -> None:
    line = (
        '{"name": "tiny-1", "state": "frozen", "exit": null, "by": null, "started": null, '
        '"ended": null}'
    )
    job = jobq.parse(line)["tiny-1"]
    assert (job.state, job.has_crashed) == (JobState.UNKNOWN, False)


def test_an_answer_that_is_no_list_of_jobs_is_no_empty_queue() -> None:
    with pytest.raises(CouldNotLook):
        jobq.parse("jobq: the server is down for maintenance")


def test_a_job_that_is_being_stopped_lives_until_it_has_ended(rig: Rig) -> None:
    rig.submit(rig.job("trap '' TERM; echo up; until [ -e go ]; do sleep 0.01; done"))
    while "up" not in rig.tail("tiny-1"):
        time.sleep(0.01)
    rig.connect().stop("tiny-1", "ada@box")
    answer = rig.connect().find("tiny-1", long_ago())
    assert isinstance(answer, Found) and answer.job.state is JobState.RUNNING
    (rig.code / "go").touch()
    assert rig.wait_for_end("tiny-1").stopped_by == "ada@box"
