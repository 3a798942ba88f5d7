"""What the launcher's words mean, and what a contract's command means to it: on recorded
answers.
"""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.evidence import Job, JobState
from herorun.core.ports import Absent, Found, Place, Submission, Unknown
from herorun.schedulers import nel
from herorun.schedulers._nel import slurm as nel_slurm
from herorun.schedulers._nel.options import config_and_overrides
from herorun.schedulers._nel.parse import (
    STATES,
    NelTask,
    Stages,
    entries,
    last_ids,
    nel_state_of,
    of_output,
    statuses,
)
from herorun.schedulers._nel.state import judge_nel, local_part, slurm_part
from herorun.schedulers._submission_record import SubmissionRecord, record_attempt, record_id
from ports.scheduler_suite import SECRET, long_ago
from schedulers.test_slurm_answers import AS_ASKED
from wording import mentions

RECORDINGS = Path(__file__).parents[1] / "recordings" / "nel"
AT = datetime(2026, 11, 21, 23, 21, tzinfo=UTC)
OVER = Stages(AT, AT, 0)


def entry(
    number: int = 0, executor: str = "local", output: str = "/out/tiny-1", **data: object
) -> NelTask:
    return NelTask(
        invocation="0a1b", id=f"0a1b.{number}", executor=executor, output=output, at=AT, data=data
    )


def adapter(home: Path, script: str, **options: object) -> nel.Nel:
    """A launcher that prints what it is told, with a list of jobs as recorded."""
    (home / "nel").write_text(f"#!/bin/sh\necho \"$*\" >> '{home}/asked'\n{script}\n")
    (home / "nel").chmod(0o755)
    fields = {
        "program": [str(home / "nel")],
        "exec_db": str(home / "exec.jsonl"),
        "folder": "/out",
        **options,
    }
    return nel.connect(
        nel.Options.model_validate(fields), Place("tiny", str(home / "state"), "/o", "/repository")
    )


def copy_recording(folder: Path) -> None:
    (folder / "exec.jsonl").write_bytes((RECORDINGS / "exec.v1.jsonl").read_bytes())


# --- the list of jobs -----------------------------------------------------------------------------


def test_a_recorded_invocation_is_found_by_its_output_directory_and_no_other() -> None:
    names = entries((RECORDINGS / "exec.v1.jsonl").read_text())
    assert list(of_output(names, "/out/tiny-1")) == ["01047efef1aeb3cc"]
    assert of_output(names, "/out/tiny") == of_output(names, "/out/tiny-11") == {}


def test_the_last_line_of_a_job_counts_and_half_a_line_is_none() -> None:
    line = (RECORDINGS / "exec.v1.jsonl").read_text().splitlines()[0]
    later = json.dumps({**json.loads(line), "data": {"killed": True}})
    (only,) = entries(f"{line}\n{later}\n{line[:80]}")
    assert only.data == {"killed": True}


def test_recorded_statuses_are_read_job_by_job() -> None:
    status_by_job = statuses((RECORDINGS / "status.json").read_text())
    assert status_by_job == {"01047efef1aeb3cc.0": "success", "deadbeef": "not_found"}


@pytest.mark.parametrize("text", ["", "No jobs found.", "[]", "{}", "[1]", "Traceback"])
def test_an_answer_without_jobs_is_no_answer(text: str) -> None:
    with pytest.raises(CouldNotLook):
        statuses(text)


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["not_found", "error", "unknown", "", "COMPLETED", "done"])
def test_what_nel_cannot_tell_is_unknown_whatever_lies_there(word: str) -> None:
    part = local_part(entry(), word, OVER)
    assert (part.state, part.raw) == (JobState.UNKNOWN, word)


@pytest.mark.parametrize(("word", "state"), STATES.items())
def test_every_word_has_its_state_and_is_kept(word: str, state: JobState) -> None:
    assert nel_state_of(word) is state
    backed_part = local_part(entry(), word, Stages(AT, AT, 1))
    assert (backed_part.state, backed_part.raw) == (state, word)


@pytest.mark.parametrize("stages", [Stages(), Stages(AT), OVER])
def test_a_failure_with_nothing_behind_it_needs_a_second_look(stages: Stages) -> None:
    part = local_part(entry(), "failed", stages)
    assert part.state is JobState.UNKNOWN and "again" in part.reason


def test_slurms_own_word_counts_for_its_executor() -> None:
    slurm = Job(
        id="71", instance="71", state=JobState.OUT_OF_MEMORY, raw="OUT_OF_MEMORY", exit_code=1
    )
    part = slurm_part(entry(executor="slurm"), "failed", slurm)
    assert (part.state, part.raw) == (JobState.OUT_OF_MEMORY, "failed; Slurm OUT_OF_MEMORY")
    running = slurm_part(
        entry(executor="slurm"),
        "failed",
        Job(id="71", instance="71", state=JobState.RUNNING, raw="RUNNING"),
    )
    assert running.state is JobState.RUNNING  # nel's ssh had failed


@pytest.mark.parametrize("word", ["failed", "running", "success", "not_found"])
def test_without_slurms_word_nels_is_not_believed(word: str) -> None:
    part = slurm_part(entry(executor="slurm"), word, "the login node gave no whole answer")
    assert part.state is JobState.UNKNOWN and mentions(part.reason, "whole", "answer")


def test_what_nel_starts_again_has_not_ended() -> None:
    job = Job(id="71", instance="71", state=JobState.TIMED_OUT, raw="TIMEOUT")
    assert slurm_part(entry(executor="slurm"), "pending", job).state is JobState.PENDING
    assert slurm_part(entry(executor="slurm"), "failed", job).state is JobState.TIMED_OUT


def test_the_newest_number_of_a_job_that_was_started_again_counts() -> None:
    jobs = [entry(0, "slurm", slurm_job_id="71"), entry(1, "slurm", slurm_job_id="72")]
    assert last_ids("71 90\nnonsense\n", jobs) == {"71": "90", "72": "72"}


# --- an invocation of several tasks ---------------------------------------------------------------


def of(*states: tuple[str, Stages]) -> Job:
    parts = [local_part(entry(n), word, stage) for n, (word, stage) in enumerate(states)]
    return judge_nel("tiny-1", "0a1b", parts, SubmissionRecord(True, "0a1b", "ada@box"))


def test_an_invocation_lives_while_a_task_does() -> None:
    job = of(("success", OVER), ("running", Stages(AT)), ("pending", Stages()))
    assert (job.state, job.tasks, job.running_tasks, job.exit_code) == (
        JobState.RUNNING,
        3,
        1,
        None,
    )


def test_an_invocation_has_succeeded_when_all_have() -> None:
    assert of(("success", OVER), ("success", OVER)).state is JobState.SUCCEEDED
    failed_answer = of(("success", OVER), ("failed", Stages(AT, AT, 3)))
    assert (failed_answer.state, failed_answer.exit_code) == (JobState.FAILED, 3)
    assert of(("success", OVER), ("failed", Stages())).state is JobState.UNKNOWN
    assert of(("success", OVER), ("killed", Stages())).stopped_by == "ada@box"


# --- the command ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "argv", [("python", "train.py"), (), ("nel", "run"), ("--config=x.yaml",), ("sh", "-c", "x")]
)
def test_a_command_is_refused_in_one_sentence(argv: tuple[str, ...]) -> None:
    with pytest.raises(WrongUse, match=r"evaluations.*commands") as error:
        config_and_overrides(argv)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "word", ["--dry-run", "-t", "ifeval", "execution.output_dir=/x", "++execution.output_dir=/x"]
)
def test_a_flag_and_our_own_key_are_no_overrides(word: str) -> None:
    with pytest.raises(WrongUse):
        config_and_overrides(("eval.yaml", word))


def test_the_request_is_what_is_sent_and_holds_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAINING_TOKEN", SECRET)
    job = Submission("tiny-1", ("eval.yaml", "a.b=c d"), "sub", {"SEED": "7"}, ("TRAINING_TOKEN",))
    text = adapter(tmp_path, "", folder="/my out").request(job, "/code", "/admission.json")
    assert "run --config eval.yaml -o 'a.b=c d' -o " in text and "# in /code/sub\n" in text
    assert "tiny-1" in text and "SEED=7" in text and SECRET not in text


# --- failures -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "script", ["exit 1", "echo 'No jobs found.'", "sleep 30", "echo Traceback >&2; exit 1"]
)
def test_an_answer_that_failed_is_never_an_absence(tmp_path: Path, script: str) -> None:
    copy_recording(tmp_path)
    scheduler = adapter(tmp_path, script, timeout="1s")
    answer = scheduler.find("tiny-1", long_ago())
    assert isinstance(answer, Unknown) and not answer.forgotten
    with pytest.raises(CouldNotLook):
        scheduler.live_jobs("tiny")


def test_a_kill_that_ended_nothing_is_no_stop(tmp_path: Path) -> None:
    """nel exits with 0 anyway."""
    copy_recording(tmp_path)
    row = {"invocation": "01047efef1aeb3cc", "job_id": "01047efef1aeb3cc.0"}
    running = json.dumps([{**row, "status": "running", "data": {}}])
    reason = "docker is gone"
    error = json.dumps([{**row, "status": "error", "data": {"error": reason}}])
    scheduler = adapter(tmp_path, f"case $1 in kill) echo '{error}';; *) echo '{running}';; esac")
    with pytest.raises(CouldNotLook, match=f"stopped nothing.*{reason}"):
        scheduler.stop("tiny-1", "ada@box")
    assert not list((tmp_path / "state").rglob("*.stop.json"))


def test_without_an_invocation_of_ours_nel_is_not_asked(tmp_path: Path) -> None:
    copy_recording(tmp_path)
    scheduler = adapter(tmp_path, "exit 1")
    assert scheduler.find("tiny-2", long_ago()) == Absent()
    assert isinstance(scheduler.find("tiny-2", datetime.now(UTC)), Unknown)
    assert scheduler.live_jobs("tin") == () and not (tmp_path / "asked").exists()


def test_a_submitted_job_that_the_list_has_lost_is_forgotten(tmp_path: Path) -> None:
    copy_recording(tmp_path)
    record_attempt(tmp_path / "state" / "nel", "tiny-2")
    record_id(tmp_path / "state" / "nel", "tiny-2", "deadbeef")
    answer = adapter(tmp_path, "exit 1").find("tiny-2", long_ago())
    assert isinstance(answer, Unknown) and answer.forgotten


def test_a_missing_launcher_is_reported_with_what_to_do(tmp_path: Path) -> None:
    copy_recording(tmp_path)
    search = adapter(tmp_path, "", program=["no-such-nel"]).find("tiny-1", long_ago())
    assert isinstance(search, Unknown) and mentions(
        search.why, "install", "nemo-evaluator-launcher"
    )


def test_an_end_that_nothing_backs_stays_unknown_until_something_does(tmp_path: Path) -> None:
    """The recorded job's folder is not on this machine."""
    copy_recording(tmp_path)
    answer = json.loads((RECORDINGS / "status.json").read_text())[:1]
    answer[0]["status"] = "failed"
    search = adapter(tmp_path, f"echo '{json.dumps(answer)}'").find("tiny-1", long_ago())
    assert isinstance(search, Found) and (search.job.state, search.job.raw) == (
        JobState.UNKNOWN,
        "failed",
    )


def test_a_folder_that_is_no_path_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match=r"absolute.*path"):
        nel.connect(nel.Options(), Place("tiny", str(tmp_path), "s3://bucket/out", "/repository"))


def test_runs_that_write_below_different_folders_share_one_status(tmp_path: Path) -> None:
    """One runs, one has another instance that ended, one was never submitted."""
    row = json.loads((RECORDINGS / "exec.v1.jsonl").read_text().splitlines()[0])
    rows, answer = [], []
    for number, output in enumerate(("/out/tiny-1", "/other/tiny-1", "/out/tiny-2", "/out/lm-1")):
        row.update(invocation_id=f"{number}a", job_id=f"{number}a.0", executor="local")
        row["config"]["execution"]["output_dir"] = output
        rows.append(json.dumps(row))
        word = "running" if output == "/out/tiny-1" else "killed"
        answer.append(
            {"invocation": f"{number}a", "job_id": f"{number}a.0", "status": word, "data": {}}
        )
    (tmp_path / "exec.jsonl").write_text("\n".join(rows))
    runs = {
        folder: adapter(tmp_path, f"echo '{json.dumps(answer)}'", folder=folder)
        for folder in ("/out", "/other")
    }
    assert len({scheduler.cluster for scheduler in runs.values()}) == 1
    look = runs["/out"].snapshot({"tiny-1": long_ago(), "never-1": long_ago()})
    snapshots = {folder: scheduler.with_snapshot(look) for folder, scheduler in runs.items()}
    here, there = (snapshots[folder].find("tiny-1", long_ago()) for folder in runs)
    assert isinstance(here, Found) and isinstance(there, Found)
    assert (here.job.state, there.job.state) == (JobState.RUNNING, JobState.CANCELLED)
    assert snapshots["/out"].find("never-1", long_ago()) == Absent()
    assert isinstance(snapshots["/out"].find("never-1", datetime.now(UTC)), Unknown)
    assert [job.instance for job in snapshots["/out"].live_jobs("tiny")] == ["tiny-1"]
    assert (tmp_path / "asked").read_text().splitlines() == ["status --json 0a 1a 2a"]
    lm = snapshots["/out"].find("lm-1", long_ago())  # it was not looked for: asked anew
    assert isinstance(lm, Found) and lm.job.state is JobState.CANCELLED
    assert (tmp_path / "asked").read_text().splitlines()[1:] == ["status --json 3a"]


def test_a_job_of_an_executor_that_nobody_can_follow_blinds_its_own_run_alone(
    tmp_path: Path,
) -> None:
    row = json.loads((RECORDINGS / "exec.v1.jsonl").read_text().splitlines()[0])
    rows = []
    for executor, output in (("lepton", "/out/odd-1"), ("local", "/out/tiny-1")):
        row.update(invocation_id=executor, job_id=f"{executor}.0", executor=executor)
        row["config"]["execution"]["output_dir"] = output
        rows.append(json.dumps(row))
    (tmp_path / "exec.jsonl").write_text("\n".join(rows))
    answer = json.dumps(
        [{"invocation": "local", "job_id": "local.0", "status": "running", "data": {}}]
    )
    scheduler = adapter(tmp_path, f"echo '{answer}'")
    snapshot = scheduler.with_snapshot(
        scheduler.snapshot({"odd-1": long_ago(), "tiny-1": long_ago()})
    )
    odd, fine = snapshot.find("odd-1", long_ago()), snapshot.find("tiny-1", long_ago())
    assert isinstance(odd, Unknown) and "executor lepton" in odd.why
    assert isinstance(fine, Found) and fine.job.state is JobState.RUNNING


SLURM_LINE = "\x1f".join(
    (
        "71",
        "j",
        "ada",
        "{}",
        "{}",
        "0",
        "1795303317",
        "1795303317",
        "1795303317",
        "1",
        "n1",
        "",
        "None",
        "",
    )
)  # squeue parts the last field, too


def test_the_jobs_that_nels_own_job_has_submitted_are_known_by_their_logs() -> None:
    """Those that wait come first, so that none of them starts when the one before it ends."""
    rows = ["70 RUNNING /out/t/logs/slurm-70.log", "71 PENDING /out/t/logs/slurm-%A.log"]
    others = [
        "72 RUNNING /out/t2/logs/slurm-72.log",
        "73 PENDING /out/elsewhere.log",
        "no job at all",
    ]
    text = "\n".join(row.replace(" ", "\x1f") + "\x1f" for row in (*rows, *others))
    assert nel_slurm.below(text, "\x1f", ["/out/t"]) == ["71", "70"]
    assert nel_slurm.below(text, "\x1f", [""]) == nel_slurm.below("", "\x1f", ["/out/t"]) == []


def test_slurm_is_asked_in_its_own_words_about_the_newest_number(tmp_path: Path) -> None:
    """nel's job 70 was started again as 71, which Slurm still runs though nel calls it failed."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".slurm_job_id.list").write_text("70\n71\n")
    (tmp_path / "squeue").write_text(
        f"#!/bin/sh\nprintf '%s\\n' '{SLURM_LINE.format('RUNNING', '0')}' | {{\n{AS_ASKED}}}\n"
    )
    (tmp_path / "sacct").write_text("#!/bin/sh\nexit 0\n")
    for name in ("squeue", "sacct"):
        (tmp_path / name).chmod(0o755)
    row = json.loads((RECORDINGS / "exec.v1.jsonl").read_text().splitlines()[0])
    row.update(
        executor="slurm", data={"slurm_job_id": "70", "remote_rundir_path": str(tmp_path / "run")}
    )
    (tmp_path / "exec.jsonl").write_text(json.dumps(row) + "\n")
    answer = [
        {
            "invocation": row["invocation_id"],
            "job_id": row["job_id"],
            "status": "failed",
            "data": {},
        }
    ]
    search = adapter(tmp_path, f"echo '{json.dumps(answer)}'", slurm_bin=str(tmp_path)).find(
        "tiny-1", long_ago()
    )
    assert isinstance(search, Found)
    assert (search.job.state, search.job.raw) == (JobState.RUNNING, "failed; Slurm RUNNING")
