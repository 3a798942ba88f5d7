"""Taking over a job without a contract by its state file alone, and what must not change on the
way.
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from herorun.operations.jobs.folders import jobs_home
from jobs_alone import GOES, PREEMPTED_JOB, Alone, ask_babysit, babysit, state
from stories import eventually, note
from wording import mentions

CAPTURE = pytest.CaptureFixture[str]
SECRET = "0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b"


def wait_for_end(alone: Alone, name: str) -> None:
    eventually(lambda: (job := alone.adapter.find(name, note("x").at)) and job.job.state.is_final)


def write_state(alone: Alone, **fields: Any) -> None:
    """The state file, as it comes from another machine; nothing else is known here."""
    (path,) = (alone.folder / "scratch").iterdir()
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))
    shutil.rmtree(jobs_home(), ignore_errors=True)


def test_a_state_file_alone_is_enough_to_take_over_and_nothing_is_launched_twice(
    alone: Alone, capsys: CAPTURE
) -> None:
    wait_for_end(alone, alone.start(PREEMPTED_JOB).instance)
    first = ("--job", alone.place("loose-1"), "--scheduler", "local")
    command = alone.again(GOES)
    assert babysit(alone, capsys, *first, "--resubmit", command, "--once").code == 1
    assert alone.all == ["loose-1", "loose-2"]

    eventually(lambda: "step 9" in alone.adapter.tail("loose-2", 9))
    signal = "preemption: the node was reclaimed"
    write_state(alone, restart_count=4, last_signal=signal)
    answer = babysit(alone, capsys, "--once")
    assert (answer.code, alone.all) == (0, ["loose-1", "loose-2"]), answer
    file = state(alone)
    assert (file["job_id"], file["first_job_id"]) == (alone.place("loose-2"), first[1])
    assert (file["restart_count"], file["resubmit_command"]) == (4, command)
    assert file["last_signal"] == signal


def test_a_job_that_was_submitted_again_is_called_down_by_neither_id(
    alone: Alone, capsys: CAPTURE
) -> None:
    """By the old id, by the new one, and by the new one where nothing else is known."""
    wait_for_end(alone, alone.start(PREEMPTED_JOB).instance)
    first, second = (("--job", alone.place(f"loose-{n}"), "--scheduler", "local") for n in (1, 2))
    babysit(alone, capsys, *first, "--resubmit", alone.again(GOES), "--once")
    eventually(lambda: "step 9" in alone.adapter.tail("loose-2", 9))
    for words in (("status", *second), ("babysit", *second, "--once"), ("status", *first)):
        answer = ask_babysit(alone, capsys, *words)
        assert answer.code == 0 and "healthy" in answer.out, (words, answer)
    shutil.rmtree(jobs_home())
    shutil.rmtree(alone.folder / "scratch")
    answer = babysit(alone, capsys, *second, "--once")
    assert answer.code == 0 and "healthy" in answer.out, answer


def test_a_live_job_of_the_same_name_is_not_joined_by_another(
    alone: Alone, capsys: CAPTURE
) -> None:
    """The file is older than what another machine submitted since."""
    wait_for_end(alone, alone.start(PREEMPTED_JOB).instance)
    alone.start(GOES)
    words = ("--job", alone.place("loose-1"), "--scheduler", "local")
    answer = babysit(alone, capsys, *words, "--resubmit", alone.again(GOES), "--once")
    assert (answer.code, alone.all) == (1, ["loose-1", "loose-2"])
    assert f"--job {alone.place('loose-2')} --scheduler local" in answer.out + answer.err


def test_a_look_without_the_command_leaves_it(alone: Alone, capsys: CAPTURE) -> None:
    alone.start(GOES)
    words = ("--job", alone.place("loose-1"), "--scheduler", "local")
    command = alone.again(GOES)
    babysit(alone, capsys, *words, "--resubmit", command, "--notify", "SLACK", "--once")
    babysit(alone, capsys, *words, "--once")
    assert (state(alone)["resubmit_command"], state(alone)["notify"]) == (command, "SLACK")
    (alone.folder / "scratch").rename(alone.folder / "scratch-of-another-folder")
    babysit(alone, capsys, *words, "--once")
    assert state(alone)["resubmit_command"] == command
    babysit(alone, capsys, *words, "--resubmit", "", "--once")
    assert state(alone)["resubmit_command"] == ""


def test_a_secret_is_stored_by_its_name_and_looked_up_when_the_command_runs(
    alone: Alone, capsys: CAPTURE, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    wait_for_end(alone, alone.start("echo step 1/20; exit 0").instance)
    words = ("--job", alone.place("loose-1"), "--scheduler", "local")
    observations = alone.folder / "seen"
    script = alone.folder / "submit.sh"
    script.write_text(f'printf %s "$2" > {observations}; exec {alone.again(GOES)}\n')
    command = f"sh {script} -e WANDB_API_KEY={SECRET} [1,2]"
    babysit(alone, capsys, *words, "--resubmit", command, "--once")
    record = [path for path in alone.folder.parent.rglob("*") if path.is_file()]
    assert not [path for path in record if SECRET.encode() in path.read_bytes()]
    assert state(alone)["resubmit_secrets"] == ["WANDB_API_KEY"]

    relaunch = ("relaunch", "--job", alone.place("loose-1"))
    refusal = ask_babysit(alone, capsys, *relaunch)
    assert (refusal.code, alone.all) == (1, ["loose-1"])
    assert "needs WANDB_API_KEY" in refusal.err

    monkeypatch.setenv("WANDB_API_KEY", SECRET)
    assert ask_babysit(alone, capsys, *relaunch).code == 0
    assert (observations.read_text(), alone.all) == (
        f"WANDB_API_KEY={SECRET}",
        ["loose-1", "loose-2"],
    )


def test_a_command_that_was_stored_without_its_secret_is_refused(
    alone: Alone, capsys: CAPTURE
) -> None:
    wait_for_end(alone, alone.start(PREEMPTED_JOB).instance)
    words = ("--job", alone.place("loose-1"), "--scheduler", "local")
    babysit(alone, capsys, *words, "--once")
    (alone.folder / "s").touch()  # what a shell would make of the brackets
    write_state(alone, resubmit_command=f"touch {alone.folder}/ran [scrubbed]")
    answer = babysit(alone, capsys, "--once")
    assert answer.code == 1 and "--resubmit" in answer.out + answer.err
    assert not (alone.folder / "ran").exists()
    assert "ran" not in os.listdir(Path(alone.folder))


def test_a_job_has_a_status_that_writes_nothing_and_its_alerts_are_acknowledged(
    alone: Alone, capsys: CAPTURE
) -> None:
    wait_for_end(alone, alone.start(PREEMPTED_JOB).instance)
    job = ("--job", alone.place("loose-1"))
    unknown = ask_babysit(alone, capsys, "status", *job, "--scheduler", "local")
    assert unknown.code == 2 and mentions(
        unknown.err, "babysit", "--job", f"{job[1]}", "--scheduler"
    )
    babysit(alone, capsys, *job, "--scheduler", "local", "--once")
    (journal,) = jobs_home().glob("*/journal.jsonl")
    before = journal.read_bytes(), state(alone)
    answer = ask_babysit(alone, capsys, "status", *job)
    assert answer.code == 1 and "cause    preemption" in answer.out
    assert (journal.read_bytes(), state(alone)) == before
    assert ask_babysit(alone, capsys, "ack", *job, "crashed", "--reason", "known").code == 0
    assert "Acknowledged" in journal.read_text() or "ack" in journal.read_text()


def test_outside_a_repository_a_status_leads_to_jobs(alone: Alone, capsys: CAPTURE) -> None:
    answer = ask_babysit(alone, capsys, "status", "4711")
    assert answer.code == 2 and mentions(
        answer.err, "status", "--job", "4711", "--scheduler", "KIND"
    )


@pytest.mark.parametrize("kind", ["device", "pipe"])
def test_a_state_file_that_has_no_end_is_not_read(alone: Alone, capsys: CAPTURE, kind: str) -> None:
    """It may have come with a clone."""
    path = alone.folder / "scratch" / "20260302-1856_monitoring_state.json"
    path.parent.mkdir()
    if kind == "device":
        path.symlink_to("/dev/zero")
    else:
        os.mkfifo(path)
    answer = babysit(alone, capsys, "--once")
    assert answer.code == 3 and path.name in answer.err, answer
