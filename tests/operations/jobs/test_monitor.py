"""One machine monitors a job without a contract; a second one is refused by name."""

import json
import os
from datetime import timedelta

import pytest

from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.operations.jobs.monitor import FIELD
from herorun.operations.jobs.run import open_job
from herorun.operations.record.heartbeat import beat
from herorun.system import host
from herorun.system.clock import now
from herorun.system.files import take_lock
from jobs_alone import GOES, Alone, ask_babysit, babysit, state
from stories import eventually
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]


def _write_owner(alone: Alone, owner: str, ago: timedelta) -> None:
    """As a monitor on another machine leaves the shared state file."""
    (path,) = (alone.folder / "scratch").iterdir()
    look = (now() - ago).isoformat()
    entry = {"owner": owner, "pid": 4711, "last_look": look, "cadence_seconds": 570}
    path.write_text(json.dumps({**state(alone), FIELD: entry}))


def test_a_second_machine_is_refused_until_the_first_no_longer_looks(
    alone: Alone, capsys: CAPTURE
) -> None:
    job = alone.place(alone.start(GOES))
    words = ("--job", job, "--scheduler", "local", "--once")
    babysit(alone, capsys, *words)
    assert state(alone)[FIELD]["owner"] == host.owner()

    _write_owner(alone, "ada@elsewhere", timedelta(minutes=5))
    refusal = babysit(alone, capsys, *words)
    assert refusal.code == 1
    assert "process 4711 of ada@elsewhere, last tick 20" in refusal.err
    assert state(alone)[FIELD]["owner"] == "ada@elsewhere"
    for order in (("stop",), ("relaunch", "--stop-first"), ("ack", "crashed")):
        refusal = ask_babysit(alone, capsys, order[0], "--job", job, *order[1:])
        assert refusal.code == 1 and mentions(refusal.err, "monitored", "4711"), refusal
    assert alone.adapter.live_jobs("loose")
    answer = ask_babysit(alone, capsys, "handoff", "--job", job, "--take")
    assert answer.code == 1 and "ada@elsewhere" in answer.err

    _write_owner(alone, "ada@elsewhere", timedelta(minutes=20))
    assert ask_babysit(alone, capsys, "handoff", "--job", job, "--take").code == 0
    assert state(alone)[FIELD]["owner"] == host.owner()


def test_a_job_is_handed_over_and_the_monitor_here_ends(alone: Alone, capsys: CAPTURE) -> None:
    job = alone.place(alone.start(GOES))
    words = ("--job", job, "--scheduler", "local")
    babysit(alone, capsys, *words, "--once")
    hand_over = ask_babysit(alone, capsys, "handoff", "--job", job, "--to", "ada@elsewhere")
    assert hand_over.code == 0 and "ada@elsewhere monitors" in hand_over.out
    ended_answer = babysit(alone, capsys, *words)  # the loop itself, which returns at once
    assert ended_answer.code == 1 and "ada@elsewhere" in ended_answer.err


def test_a_second_monitor_on_this_machine_is_told_who_the_first_one_is(
    alone: Alone, capsys: CAPTURE
) -> None:
    job = alone.place(alone.start(GOES))
    words = ("--job", job, "--scheduler", "local")
    babysit(alone, capsys, *words, "--once")
    run = open_job(JobSpec(job=job, kind="local"))
    lock = take_lock(run.lock("babysitter"), 0.0, "this test")
    beat(run, pid=4711)
    refusal = babysit(alone, capsys, *words)
    os.close(lock)
    assert refusal.code == 2
    assert f"(process 4711 of {host.owner()}, last tick 20" in refusal.err


def test_what_is_wrong_with_a_live_job_is_its_last_signal(alone: Alone, capsys: CAPTURE) -> None:
    """Who takes over a degraded job must not find the field empty, nor the link of its tracker."""
    error = "echo 'RuntimeError: CUDA error: an illegal memory access was encountered'"
    link = "https://wandb.ai/marin/exp/runs/ab12cd34"
    job = alone.start(f"echo step 3/20; {error}; echo 'wandb: View run at {link}'; {GOES}")
    eventually(lambda: "step 9" in alone.adapter.tail(job.instance, 9))
    words = ("--job", alone.place(job), "--scheduler", "local", "--once")
    for _ in range(2):
        answer = babysit(alone, capsys, *words)
    assert state(alone)["state"] == "running"
    assert state(alone)["tracker_links"] == [link]
    assert "illegal memory access" in state(alone)["last_signal"], answer
