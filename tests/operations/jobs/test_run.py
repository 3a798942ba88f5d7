"""Jobs without a contract, by the command line: real processes, real failures, one state folder a
test.
"""

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from commands.answers import Answer
from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.errors import CouldNotLook
from herorun.core.event import Done, Failed, Intended, Launched
from herorun.core.evidence import Nothing, Unavailable
from herorun.operations.jobs.file_journal import Journal
from herorun.operations.jobs.folders import jobs_home
from herorun.operations.jobs.job_contract import contract_for
from herorun.operations.jobs.run import JobRun
from jobs_alone import BUG, GOES, PREEMPTED_JOB, Alone, ask_babysit, babysit, state
from screens.notices import Notice
from services.channel_servers import web_service
from stories import eventually, note
from wording import mentions

AGAIN_AT_21 = "echo Resuming from step 20; echo step 21/90; until [ -e go ]; do sleep 0.05; done"


def events(*kinds: type) -> list[Any]:
    (folder,) = jobs_home().iterdir()
    events = [line.event for line in Journal(folder / "journal.jsonl", folder.name).lines()]
    return [event for event in events if isinstance(event, kinds)]


def wait_for_end(alone: Alone, name: str) -> None:
    eventually(lambda: (job := alone.adapter.find(name, note("x").at)) and job.job.state.is_final)


def test_a_job_is_followed_to_its_end_and_its_state_file_has_the_seeds_fields(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    job = alone.start(
        "echo step 9/20; echo 'wandb: View run at https://wandb.ai/a/b/runs/ab12'; exit 0"
    )
    wait_for_end(alone, job.instance)
    answer = babysit(
        alone, capsys, "--job", alone.place(job), "--scheduler", "local", "--every", "1s"
    )
    assert answer.code == 0, answer
    assert mentions(answer.out, "finished", "all evidence", "~9/20")
    assert "herorun seal" not in next(jobs_home().glob("*/issue.md")).read_text()
    assert answer.err.count("https://wandb.ai/a/b/runs/ab12") == 1
    state_document = state(alone)
    assert (state_document["job_id"], state_document["restart_count"]) == (alone.place(job), 0)
    assert (state_document["progress"], state_document["tracker_runs"]) == ("~9/20", ["ab12"])
    assert {"ts", "config", "cluster", "experiment", "resubmit_command"} <= state_document.keys()

    (path,) = (alone.folder / "scratch").iterdir()
    path.write_text(path.read_text().replace('"tracker_runs"', '"wandb_runs"'))
    # with no arguments it goes on from the newest state file, of an older herorun too
    again = babysit(alone, capsys, "--once")
    assert (again.code, "ab12" in again.err) == (0, False)
    assert state(alone)["tracker_runs"] == ["ab12"] and "wandb_runs" not in state(alone)


def test_a_recoverable_failure_is_submitted_again_once_and_the_next_job_is_followed(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    job = alone.start(PREEMPTED_JOB)
    wait_for_end(alone, job.instance)
    words = (
        "--job",
        alone.place(job),
        "--scheduler",
        "local",
        "--resubmit",
        alone.again(GOES),
        "--once",
    )
    assert babysit(alone, capsys, *words).code == 1
    assert alone.all == ["loose-1", "loose-2"]
    state_document = state(alone)
    assert (state_document["job_id"], state_document["restart_count"]) == (
        alone.place("loose-2"),
        1,
    )
    kinds = [
        e.kind
        for e in events(Intended, Launched, Done)
        if getattr(e, "key", "resubmit/").startswith("resubmit/")
    ]
    assert kinds == ["Launched", "Intended", "Launched", "Done"]  # recorded before it was done

    eventually(lambda: "step 9/20" in alone.adapter.tail("loose-2", 5))
    answer = babysit(alone, capsys, "--once")
    assert (answer.code, alone.all) == (0, ["loose-1", "loose-2"])
    assert "healthy" in answer.out
    by_the_new_id = babysit(
        alone, capsys, "--job", alone.place("loose-2"), "--scheduler", "local", "--once"
    )
    assert by_the_new_id.code == 0
    assert len(list(jobs_home().iterdir())) == 1


def test_without_a_command_a_failure_is_reported_and_the_watch_ends(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    job = alone.start(PREEMPTED_JOB)
    wait_for_end(alone, job.instance)
    answer = babysit(
        alone, capsys, "--job", alone.place(job), "--scheduler", "local", "--every", "1s"
    )
    assert (answer.code, alone.all) == (1, ["loose-1"])
    page = next(jobs_home().glob("*/issue.md")).read_text()
    assert mentions(page, "submit", "yourself")
    assert "herorun approve" not in page


def test_a_bug_in_the_code_is_not_submitted_again(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    job = alone.start(BUG)
    wait_for_end(alone, job.instance)
    words = ("--job", alone.place(job), "--scheduler", "local", "--resubmit", alone.again(GOES))
    answer = babysit(alone, capsys, *words, "--every", "1s")
    assert (answer.code, alone.all) == (1, ["loose-1"])
    assert "train.py:3" in next(jobs_home().glob("*/issue.md")).read_text()


def test_a_failure_is_reported_with_its_place_and_how_large_the_fix_is(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    job = alone.start(BUG)
    wait_for_end(alone, job.instance)
    words = ("--job", alone.place(job), "--scheduler", "local", "--once")
    document = json.loads(babysit(alone, capsys, *words, "--json").out)
    cause = document["cause"]
    assert (cause["failure"], cause["effort"]) == ("code-bug-small", "small")
    assert (cause["file"], cause["line"]) == ("train.py", 3)
    assert mentions(babysit(alone, capsys, *words).out, "cause ", "code-bug-small", "train.py:3")
    page = next(jobs_home().glob("*/issue.md")).read_text()
    assert f"Why {alone.place(job)} failed" in page


def test_progress_falls_where_an_earlier_step_is_trained_again(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    job = alone.start("echo step 50/90; until [ -e again ]; do sleep 0.05; done; " + AGAIN_AT_21)
    eventually(lambda: "50/90" in alone.adapter.tail(job.instance, 9))
    words = ("--job", alone.place(job), "--scheduler", "local", "--once")
    assert "~50/90" in babysit(alone, capsys, *words).out
    (alone.folder / "again").touch()
    eventually(lambda: "21/90" in alone.adapter.tail(job.instance, 9))
    assert "~21/90, was ~50/90" in babysit(alone, capsys, *words).out


@pytest.mark.parametrize(
    ("command", "text"),
    [("echo no id; touch ran; exit 0", "local job"), ("touch ran; exit 3", "failed")],
)
def test_a_command_of_unclear_outcome_is_never_run_twice_for_one_end(
    alone: Alone, capsys: pytest.CaptureFixture[str], command: str, text: str
) -> None:
    job = alone.start(PREEMPTED_JOB)
    wait_for_end(alone, job.instance)
    words = (
        "--job",
        alone.place(job),
        "--scheduler",
        "local",
        "--resubmit",
        f"sh -c '{command}'",
        "--once",
    )
    assert babysit(alone, capsys, *words).code == 1
    ran = alone.folder / "ran"
    ran.unlink()
    for _ in range(2):
        assert babysit(alone, capsys, *words).code == 1
    assert not ran.exists()
    (failed_event,) = [event for event in events(Failed) if event.key.startswith("resubmit/")]
    assert text in failed_event.why


@pytest.mark.thorough
def test_the_same_failure_twice_without_a_further_step_is_put_to_a_person(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    crash = "echo step 7/20; exit 41"
    job = alone.start(crash)
    wait_for_end(alone, job.instance)
    words = (
        "--job",
        alone.place(job),
        "--scheduler",
        "local",
        "--resubmit",
        alone.again(crash),
        "--once",
    )
    babysit(alone, capsys, *words)
    wait_for_end(alone, "loose-2")
    assert babysit(alone, capsys, "--once").code == 1
    assert alone.all == ["loose-1", "loose-2"]


def test_a_tracker_run_of_a_living_job_is_reported_once(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    job = alone.start(f"echo 'wandb: 🚀 View run x at: https://wandb.ai/a/b/runs/ab12'; {GOES}")
    eventually(lambda: "step 9" in alone.adapter.tail(job.instance, 5))
    words = ("--job", alone.place(job), "--scheduler", "local", "--once")
    assert babysit(alone, capsys, *words).err.count("https://wandb.ai/a/b/runs/ab12") == 1
    assert "ab12" not in babysit(alone, capsys, *words).err
    assert state(alone)["tracker_runs"] == ["ab12"]


def test_a_watch_ends_at_its_stopping_point_and_leaves_the_job_alone(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    job = alone.start(GOES)
    eventually(lambda: "step 9" in alone.adapter.tail(job.instance, 5))
    words = (
        "--job",
        alone.place(job),
        "--scheduler",
        "local",
        "--every",
        "1s",
        "--until",
        "step=9",
    )
    answer = babysit(alone, capsys, *words)
    assert (answer.code, mentions(answer.out, "step=9", "~9/20")) == (0, True)
    assert alone.adapter.find(job.instance, note("x").at).job.state.live


def test_the_one_way_to_name_a_job_stands_where_nothing_is_named(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mentions(babysit(alone, capsys).err, "without", "--job")


def test_a_process_that_is_gone_is_neither_well_nor_failed(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    process = subprocess.Popen(["sleep", "60"])
    words = ("--job", str(process.pid), "--scheduler", "local", "--once")
    try:
        (alone.folder / "log").write_text("step 1/9\n")
        assert babysit(alone, capsys, *words, "--log", "log").code == 0
    finally:
        process.kill()
        process.wait()
    answer = babysit(alone, capsys, *words, "--log", "log")
    assert answer.code == 3
    assert "unknown" in answer.out and mentions(answer.out, "process", "gone")


def test_a_number_that_another_process_has_since_is_watched_again_by_what_the_message_says(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--job", str(os.getpid()), "--scheduler", "local", "--log", "a b.log", "--once")
    (alone.folder / "a b.log").write_text("step 1/9\n")
    assert babysit(alone, capsys, *words).code == 0
    (paths,) = jobs_home().glob(f"*/process-{os.getpid()}")
    paths.write_text("another boot 1")
    answer = babysit(alone, capsys, *words)
    assert (answer.code, mentions(answer.out, "number", "another")) == (3, True)
    typed_argv = answer.out.rpartition(" babysit ")[2].partition("`")[0]
    second_answer = babysit(alone, capsys, *shlex.split(typed_argv), "--once")
    assert (
        second_answer.code,
        "healthy" in second_answer.out,
        "earlier-jobs" in second_answer.err,
    ) == (0, True, True), second_answer
    assert babysit(alone, capsys, "--once").code == 0  # the newest state file is the new one's
    assert len(list((alone.folder / "scratch").iterdir())) == 2
    assert (babysit(alone, capsys, "--new-job").code, len(list(jobs_home().iterdir()))) == (2, 1)


def test_key_events_are_reported_also_where_slurm_does_not_answer(
    alone: Alone, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (alone.folder / "bin").mkdir()
    (alone.folder / "bin" / "squeue").write_text(
        "#!/bin/sh\necho 'Unable to contact slurm controller' >&2; exit 1\n"
    )
    (alone.folder / "bin" / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", f"{alone.folder / 'bin'}:{os.environ['PATH']}")
    (alone.folder / "out.log").write_text("Submitted batch job 4711\nCalibration complete\n")
    answer = babysit(alone, capsys, "--job", "out.log", "--scheduler", "launcher", "--once")
    assert answer.code == 3 and mentions(answer.out, "unknown", "partly read")
    assert "Slurm job 4711" in answer.err and "calibration complete" in answer.err
    assert "calibration complete" not in babysit(alone, capsys, "--once").err  # once


@pytest.mark.parametrize(
    "words",
    [
        ("--job", "15be12f8", "--scheduler", "nel", "--host", "-oProxyCommand=x"),
        ("--job", "5"),
        ("--job", "x", "--scheduler", "ray"),
        ("--job", "my-job", "--scheduler", "iris", "--cluster", "marin"),
        ("--job", "/a/b", "--scheduler", "iris", "--cluster", "nowhere"),
        ("--job", "4711", "--scheduler", "pbs"),
        ("--job", "/nowhere/jobs/x-1", "--scheduler", "local"),
        ("--job", "1", "--scheduler", "slurm", "--resubmit", "sbatch --wait x"),
        ("tiny", "--job", "1", "--scheduler", "slurm"),
    ],
)
def test_bad_input_is_one_sentence(
    alone: Alone, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], notice: Notice
) -> None:
    answer = babysit(alone, capsys, *words)
    assert (answer.code, len(answer.err.splitlines())) == (2, 1)
    assert answer.err == notice


def test_a_half_written_state_file_is_reported_and_the_next_one_is_gone_on_with(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    scratch = alone.folder / "scratch"
    scratch.mkdir()
    (scratch / "20990101-0000_monitoring_state.json").write_text('{"job_id": "x')
    assert babysit(alone, capsys, "--once").code == 3
    job = alone.start(GOES)
    eventually(lambda: "step 9" in alone.adapter.tail(job.instance, 9))
    fields = {"job_id": alone.place(job), "scheduler": "local", "restart_count": 0}
    (scratch / "20260101-0000_monitoring_state.json").write_text(json.dumps(fields))
    answer = babysit(alone, capsys, "--once")
    assert answer.code == 0
    assert mentions(answer.err, "20990101-0000_monitoring_state.json", "read")


def test_a_line_that_a_crash_cut_off_makes_room_and_a_changed_one_stops_everything(
    home: Path,
) -> None:
    journal = Journal(home / "journal.jsonl", "x")
    journal.append(note("one"))
    with journal.path.open("ab") as file:
        file.write(b'{"v": 1, "cut')
    Journal(journal.path, "x").append(note("two"))
    assert [line.event.title for line in Journal(journal.path, "x").lines()] == ["one", "two"]
    journal.path.write_bytes(journal.path.read_bytes().replace(b"one", b"eno"))
    with pytest.raises(CouldNotLook, match="damaged"):
        Journal(journal.path, "x").memory()


def test_two_journals_of_one_file_see_each_others_events(home: Path) -> None:
    one, two = (Journal(home / "journal.jsonl", "x") for _ in range(2))
    for turn in range(3):
        (one, two)[turn % 2].append(note(f"n{turn}"))
    assert len(one.lines()) == len(two.lines()) == 3
    assert os.stat(one.path).st_mode & 0o077 == 0


# --- a sentinel of such a job ---------------------------------------------------------------------


def test_a_sentinel_of_a_job_without_a_contract_ends_by_its_state_its_step_or_a_file(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    job = alone.start("echo step 9/20; exit 0")
    wait_for_end(alone, job.instance)
    marker = alone.folder / "DONE"
    marker.touch()
    argv = (
        "await",
        "--job",
        alone.place(job),
        "--scheduler",
        "local",
        "--every",
        "1s",
        "--max",
        "1",
    )
    for words in (("--state", "succeeded"), ("--step", "9"), ("--marker", str(marker)), ()):
        assert ask_babysit(alone, capsys, *argv, *words).code == 0, words
    missed_answer = ask_babysit(alone, capsys, *argv, "--step", "20")
    assert missed_answer.code == 1 and mentions(missed_answer.out, "20", "not reached")
    assert not list(jobs_home().glob("*/journal.jsonl")), "a look writes nothing down"


def test_a_sentinel_of_a_failed_job_and_of_one_that_nobody_knows(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    job = alone.start(PREEMPTED_JOB)
    wait_for_end(alone, job.instance)
    argv = ("await", "--scheduler", "local", "--every", "1s", "--max", "1", "--job")
    down = ask_babysit(alone, capsys, *argv, alone.place(job))
    assert down.code == 1 and mentions(down.out, "down")
    assert ask_babysit(alone, capsys, *argv, str(alone.folder / "jobs" / "nobody")).code in (2, 3)
    assert ask_babysit(alone, capsys, "await").code == 2
    assert (
        ask_babysit(alone, capsys, "await", "grug", "--job", "1", "--scheduler", "slurm").code == 2
    )


@pytest.mark.thorough
def test_channels_are_told_of_a_failure_also_by_a_watch_that_continues_from_its_state_file(
    alone: Alone, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = alone.start("echo step 7/20; until [ -e go ]; do sleep 0.05; done; exit 3")
    with web_service() as service:
        monkeypatch.setenv("PAGER", f"json://{service.place}/x")
        words = ("--job", alone.place(job), "--scheduler", "local", "--once")
        assert babysit(alone, capsys, *words, "--notify", "PAGER").code == 0
        assert service.deliveries == []
        (alone.folder / "go").touch()
        wait_for_end(alone, job.instance)
        assert babysit(alone, capsys, "--once").code == 1
        assert any("crashed" in body["title"] for _, body in service.deliveries), service.deliveries
    assert state(alone)["notify"] == "PAGER"
    answer = babysit(alone, capsys, *words, "--notify", "https://hooks.example.org/T/s3cr3t")
    assert answer.code == 2 and mentions(answer.err, "environment", "variable")
    assert "s3cr3t" not in answer.err


# --- what a person orders -------------------------------------------------------------------------


def relaunch(alone: Alone, capsys: pytest.CaptureFixture[str], *words: str) -> Answer:
    return ask_babysit(alone, capsys, "relaunch", *words)


@pytest.mark.thorough
def test_after_a_fix_it_is_submitted_again_by_its_command_and_a_second_time_for_the_same_error_not(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    job = alone.start(BUG)
    wait_for_end(alone, job.instance)
    words = (
        "--job",
        alone.place(job),
        "--scheduler",
        "local",
        "--resubmit",
        alone.again(BUG),
        "--once",
    )
    assert babysit(alone, capsys, *words).code == 1
    page = next(jobs_home().glob("*/issue.md")).read_text()
    assert f"herorun -C {alone.folder} relaunch --job {alone.place(job)}" in page

    answer = relaunch(alone, capsys, "--job", alone.place(job), "--reason", "mended")
    assert (answer.code, alone.all) == (0, ["loose-1", "loose-2"]), answer
    assert mentions(answer.out, f"{alone.place('loose-2')}", "submitted", "place")
    assert f"babysit --job {alone.place('loose-2')} --scheduler local" in answer.err
    state_document = state(alone)
    assert (state_document["job_id"], state_document["restart_count"]) == (
        alone.place("loose-2"),
        1,
    )
    assert (
        "submitted already"
        in relaunch(alone, capsys, "--job", state_document["job_id"], "--reason", "mended").out
    )

    wait_for_end(alone, "loose-2")
    answer = relaunch(
        alone, capsys, "--job", alone.place("loose-2"), "--reason", "mended once more"
    )
    assert (answer.code, alone.all) == (1, ["loose-1", "loose-2"])
    assert mentions(answer.err, "failure", "twice")


@pytest.mark.thorough
def test_a_live_job_is_stopped_first_only_where_that_was_reported(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    job = alone.start(GOES)
    words = ("--job", alone.place(job), "--scheduler", "local")
    assert (
        babysit(
            alone, capsys, *words, "--resubmit", alone.again("echo step 1/20; exit 0"), "--once"
        ).code
        == 0
    )
    answer = relaunch(alone, capsys, *words)
    assert (answer.code, alone.all) == (1, ["loose-1"])
    assert "--stop-first" in answer.err

    answer = relaunch(alone, capsys, *words, "--stop-first", "--reason", "hangs")
    assert (answer.code, alone.all) == (0, ["loose-1", "loose-2"]), answer
    search = alone.adapter.find("loose-1", note("x").at)
    assert search.job.state == "cancelled"
    assert state(alone)["restart_count"] == 1


def test_a_job_is_stopped_by_its_id_and_stays_stopped(
    alone: Alone, capsys: pytest.CaptureFixture[str]
) -> None:
    job = alone.start(GOES)
    words = (
        "--job",
        alone.place(job),
        "--scheduler",
        "local",
        "--resubmit",
        alone.again(GOES),
        "--once",
    )
    babysit(alone, capsys, *words)
    answer = ask_babysit(alone, capsys, "stop", "--job", alone.place(job), "--reason", "enough")
    assert (answer.code, "was stopped" in answer.out) == (0, True), answer
    babysit(alone, capsys, "--once")
    assert alone.all == ["loose-1"]


@pytest.mark.parametrize("verb", ["stop", "relaunch"])
def test_an_order_about_nothing_is_one_sentence(
    alone: Alone, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    for words in ((), ("grug", "--job", "4711")):
        answer = ask_babysit(alone, capsys, verb, *words)
        assert (answer.code, answer.out) == (2, "")
        assert "--job" in answer.err


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (CouldNotLook("the login node is away"), Unavailable),
        (PermissionError(13, "Permission denied"), Unavailable),
        (FileNotFoundError(2, "no such file"), Nothing),
    ],
)
def test_a_log_that_nobody_could_read_tells_no_end_and_is_a_gap(
    tmp_path: Path, error: Exception, result: type
) -> None:
    facts = JobSpec(job="71", kind="slurm")
    run = JobRun(facts, tmp_path, contract_for(facts, tmp_path / "slurm-71"))
    run.record.append(run.instance("71", "as a person named it"))

    class Away:
        def tail(self, instance: str, lines: int) -> str:
            raise error

    run.__dict__["scheduler"] = Away()
    assert isinstance(run._final(run.record.memory()), result)
