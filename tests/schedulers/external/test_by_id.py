"""Jobs looked at by the ids that their back ends gave them: what each source's words mean."""

import os
import sys
import time
from pathlib import Path

import pytest

from herorun import adapters, job_kinds
from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.adhoc_jobs.tasks import summary
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import JobState
from herorun.core.ports import Absent, ById, Found, Place, Unknown, missing_members
from herorun.schedulers._nel.results import scores, scores_in
from herorun.schedulers.external import iris, launcher, slurm, ssh
from herorun.schedulers.external._slurm_job import origin_in, result_in, task_ends
from schedulers.test_slurm_answers import AS_ASKED
from wording import mentions

STAND_IN = Path(__file__).parents[2] / "services" / "iris_stand_in.py"
RECORDINGS = Path(__file__).parents[2] / "recordings"


def connect(kind: str, tmp_path: Path, **options: str) -> object:
    return adapters.connect(
        "schedulers.external", kind, options, Place("job", *[str(tmp_path)] * 3)
    )


@pytest.fixture(params=["A", "B", "C"])
def marin(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the stand-in, whose program is the `iris` of the path."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    program = tmp_path / "bin" / "iris"
    program.parent.mkdir()
    flags = '[ "$1" = --config ] && shift 2'
    program.write_text(
        f"#!/bin/sh\n{flags}\nexec {sys.executable} -I -S {STAND_IN} {request.param} {folder} "
        '"$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return folder


def row(name: str, word: str, **programs: object) -> dict[str, object]:
    at = str(int((time.time() - 300) * 1000))
    return {
        "job_id": f"/ada/{name}",
        "state": f"JOB_STATE_{word}",
        "submitted_at": {"epoch_ms": at},
        **programs,
    }


def test_an_iris_job_is_found_by_its_whole_name(marin: Path, tmp_path: Path) -> None:
    import json

    rows = [
        row("loose", "RUNNING", task_state_counts={"running": 1}),
        row("loose-2", "FAILED", exit_code=137),
    ]
    (marin / "others.json").write_text(json.dumps(rows))
    adapter = iris.connect(iris.Options(config="c.yaml"), Place("job", *[str(tmp_path)] * 3))
    one, two = adapter.find_job("/ada/loose"), adapter.find_job("/ada/loose-2")
    assert isinstance(one, Found) and isinstance(two, Found)
    assert (one.job.state, two.job.state, two.job.exit_code) == (
        JobState.RUNNING,
        JobState.FAILED,
        137,
    )
    assert isinstance(adapter.find_job("/ada/loos"), Absent)


def test_the_log_of_an_iris_job_holds_its_childrens_lines_however_long_ago_they_were_written(
    marin: Path, tmp_path: Path
) -> None:
    """What it said before it fell silent is what a job that hangs is known by."""
    for name, line in (
        ("loose", "coordinator"),
        ("loose%train_lm", "OwnerDiedError"),
        ("loose-2", "other"),
    ):
        log = marin / "jobs" / f"ada%{name}" / "log"
        log.parent.mkdir(parents=True)
        log.write_text(f"{line}\n")
    adapter = iris.connect(iris.Options(config="c.yaml"), Place("job", *[str(tmp_path)] * 3))
    assert adapter.tail("/ada/loose", 100) == "0: coordinator\ntrain_lm/0: OwnerDiedError\n"
    assert "--since" not in (marin / "asked").read_text()


def test_an_iris_that_cannot_be_asked_is_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert isinstance(
        iris.connect(iris.Options(config="c"), Place("j", "/", "/", "/")).find_job("/a/b"), Unknown
    )


def test_the_tasks_of_each_generation_are_summed_up() -> None:
    recording = RECORDINGS / "iris"
    summary_tasks = iris.summary_tasks((recording / "summary-A.json").read_text())
    assert mentions(summary(summary_tasks), "1 of", "2 tasks", "3", "0.12s", "earliest")
    summary_tasks = iris.described_tasks((recording / "describe-C.txt").read_text())
    assert [(task.exit_code, task.failed) for task in summary_tasks] == [(None, False), (3, True)]
    assert iris.summary_tasks("{}") == iris.summary_tasks("no") == iris.described_tasks("") == ()


def test_a_peak_in_a_table_is_read_from_its_own_column() -> None:
    table = (
        "  TASK  STATE      EXIT  DURATION    PEAK MEM    CUR MEM    ERROR\n"
        "     0  failed     137   11 seconds  15.9 GB     -          OOM\n"
    )
    (task,) = iris.described_tasks(table)
    assert task.peak_mb == pytest.approx(15.9 * 1024)


SLURM = f"""\
#!/bin/sh
case "$0" in
  *squeue) cat "$(dirname "$0")/queue" ;;
  *sacct) case "$*" in *Elapsed*) echo 'TIMEOUT|0:0|01:00:00' ;; *) cat "$(dirname "$0")/books" ;; esac ;;
esac | {{
{AS_ASKED}}}
"""  # noqa: E501  # a text that is read as it stands


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    for name in ("squeue", "sacct"):
        (tmp_path / name).write_text(SLURM)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def books(word: str) -> str:
    fields = [
        "4711",
        "ptq",
        "ada",
        word,
        "0:0",
        "1760000000",
        "1760000010",
        "1760003610",
        "1",
        "node1",
        "None",
        "",
        "",
    ]
    return "\x1f".join(fields) + "\n"


def queue_row(word: str, restarts: str = "0") -> str:
    fields = [
        "4711",
        "ptq",
        "ada",
        word,
        "0",
        restarts,
        "1760000000",
        "1760000010",
        "1760003610",
        "1",
        "node1",
        "",
        "None",
    ]
    return "".join(f"{field}\x1f" for field in fields) + "\n"


@pytest.mark.parametrize(
    ("queue", "book", "state"),
    [
        ("RUNNING", "RUNNING", JobState.RUNNING),
        ("COMPLETING", "COMPLETED", JobState.RUNNING),
        (None, "COMPLETED", JobState.SUCCEEDED),
        (None, "OUT_OF_MEMORY", JobState.OUT_OF_MEMORY),
        (None, "PREEMPTED", JobState.PREEMPTED),
        (None, "TIMEOUT", JobState.TIMED_OUT),
        (None, "CANCELLED by 1000", JobState.CANCELLED),
        ("COMPLETED", "COMPLETED", JobState.SUCCEEDED),
        (None, "RUNNING", JobState.UNKNOWN),
    ],
)
def test_sacct_decides_a_slurm_jobs_end(
    programs: Path, queue: str | None, book: str, state: JobState
) -> None:
    (programs / "queue").write_text(queue_row(queue) if queue else "")
    (programs / "books").write_text(books(book))
    adapter = slurm.connect(slurm.Options(slurm_bin=str(programs)), Place("j", "/", "/", "/"))
    job = adapter.find_job("4711")
    assert isinstance(job, Found)
    assert (job.job.state, job.job.id) == (state, "4711")
    assert adapter.results("4711") == "TIMEOUT, exit code 0:0, elapsed 01:00:00"


def test_the_user_who_cancelled_a_slurm_job_is_named(programs: Path) -> None:
    (programs / "queue").write_text("")
    (programs / "books").write_text(books("CANCELLED by 0"))
    adapter = slurm.connect(slurm.Options(slurm_bin=str(programs)), Place("j", "/", "/", "/"))
    job = adapter.find_job("4711")
    assert isinstance(job, Found) and job.job.stopped_by == "root"


@pytest.mark.parametrize(("restarts", "events"), [("0", 0), ("1", 1), ("2", 1)])
def test_a_requeued_slurm_job_says_so(programs: Path, restarts: str, events: int) -> None:
    (programs / "queue").write_text(queue_row("RUNNING", restarts))
    (programs / "books").write_text("")
    adapter = slurm.connect(slurm.Options(slurm_bin=str(programs)), Place("j", "/", "/", "/"))
    assert adapter.events("4711") == ()  # before it was found
    assert isinstance(adapter.find_job("4711"), Found)
    messages = adapter.events("4711")
    assert len(messages) == events
    assert all(mentions(message, "requeued", restarts) for message in messages)


def test_a_slurm_job_that_neither_knows_is_absent(programs: Path) -> None:
    (programs / "queue").write_text("")
    (programs / "books").write_text("")
    adapter = slurm.connect(slurm.Options(slurm_bin=str(programs)), Place("j", "/", "/", "/"))
    assert isinstance(adapter.find_job("4711"), Absent)


def test_a_slurm_job_that_a_cluster_without_accounting_has_forgotten_is_not_absent(
    programs: Path,
) -> None:
    (programs / "queue").write_text("")
    (programs / "sacct").write_text(
        "#!/bin/sh\necho Slurm accounting storage is disabled >&2; exit 1\n"
    )
    adapter = slurm.connect(slurm.Options(slurm_bin=str(programs)), Place("j", "/", "/", "/"))
    answer = adapter.find_job("4711")
    assert isinstance(answer, Unknown) and answer.forgotten


def test_the_parts_of_a_slurm_job_have_the_peaks_of_their_steps() -> None:
    text = (
        "7_0|OUT_OF_MEMORY|0:125|60||2000M\n7_0.batch|OUT_OF_MEMORY|0:125|60|1990M|\n"
        "7_1|COMPLETED|0:0|60||2000M\n"
    )
    tasks = task_ends(text)
    assert [(task.name, task.peak_mb, task.failed) for task in tasks] == [
        ("7_0", 1990.0, True),
        ("7_1", None, False),
    ]
    assert mentions(summary(tasks), "1 of", "2 tasks", "137", "raise")
    task_rows = task_ends(
        "7|FAILED|9:0|60||2000M\n7.batch|FAILED|9:0|60|1990M|\n8|FAILED|9:0|60||2000M\n"
    )
    assert [task.exit_code for task in task_rows] == [137, 9]  # accounting drops the 128


def test_of_an_array_the_part_that_failed_says_how_it_went() -> None:
    assert (
        result_in("COMPLETED|0:0|00:01:00\nFAILED|1:0|00:00:09\n")
        == "FAILED, exit code 1:0, elapsed 00:00:09"
    )
    assert result_in("COMPLETED|0:0|00:01:00\n").startswith("COMPLETED")
    assert result_in("sacct: error: nobody is there\n") == ""


def test_a_launchers_own_status_counts_and_before_it_a_young_file_is_no_end(tmp_path: Path) -> None:
    output = tmp_path / "out.log"
    adapter = launcher.connect(launcher.Options(), Place("j", "/", "/", "/"))
    assert isinstance(adapter.find_job(str(output)), Absent)

    def state() -> JobState:
        job = adapter.find_job(str(output))
        assert isinstance(job, Found)
        return job.job.state

    output.write_text("Traceback (most recent call last):\nValueError: no\n")
    assert state() is JobState.BUILDING
    os.utime(output, (time.time() - 600, time.time() - 600))
    assert state() is JobState.FAILED
    output.write_text("Experiment Status for cicd_1744152200\n\nTask 0: a\n- Status: SUCCEEDED\n")
    assert state() is JobState.SUCCEEDED
    assert adapter.events(str(output)) == ("experiment cicd_1744152200",)


def test_scores_are_read_from_nels_results_and_nothing_else() -> None:
    task = {"metrics": {"acc": {"scores": {"acc": {"value": 0.423, "stats": {"value": 9}}}}}}
    assert scores_in({"results": {"tasks": {"MMLU-Pro": task}}}) == ["MMLU-Pro: 42.3%"]
    assert (
        scores_in({"results": []})
        == scores_in(None)
        == scores_in({"results": {"tasks": {"x": 1}}})
        == []
    )
    assert scores("results: {tasks: {x: {value: 0.5}}}") == ["x: 50.0%"]
    assert (
        scores("")
        == scores("results: {tasks: {x: {val")
        == scores("!!python/object:os.system {}")
        == []
    )


@pytest.mark.parametrize("kind", job_kinds.kinds())
def test_each_kind_declares_what_its_ids_look_like_and_what_it_can_do(
    kind: str, tmp_path: Path
) -> None:
    job_kind = job_kinds.job_kind(kind)
    spec = JobSpec(job="x", kind=kind, cluster="https://c", config="c.yaml", host="box")
    assert {*job_kind.needs, *job_kind.place} <= {*JobSpec.__dataclass_fields__}
    assert not job_kind.id_pattern.fullmatch("")
    assert not job_kind.id_pattern.fullmatch("1\0")
    assert job_kind.printed.groups and job_kind.id_form and job_kind.absent
    options = job_kind.adapter_options(spec)
    adapter = adapters.connect(job_kinds.PORT, kind, {}, Place("x", *[str(tmp_path)] * 3), options)
    assert missing_members(ById, adapter) == ()
    assert bool(job_kind.listing(spec)) == hasattr(adapter, "listed")


def test_a_jobs_name_cannot_say_whose_it_is() -> None:
    output = (
        "JobId=7 JobName={}\n   UserId=grace(1001) GroupId=x(1)\n   Command=/x/a.sh\n   "
        "WorkDir=/x\n"
    )
    assert origin_in(output.format("tiny"), "1000").mine is False
    with pytest.raises(CouldNotLook, match=r"scontrol.*owners"):
        origin_in(output.format("UserId=ada(1000)"), "1000")
    assert origin_in(output.format("x\n   Command=/forged"), "1001").details == ""


def test_a_process_that_is_gone_says_what_the_box_knows_of_it() -> None:
    names = ssh._ProcessRecord(start="b 7", boot="b", kills=1)
    now = {"boot": "b", "start": "", "kills": 1}
    assert mentions(ssh._describe_end(names, now), "log")
    assert "started again" in ssh._describe_end(names, {**now, "boot": "c"})
    assert mentions(ssh._describe_end(names, {**now, "start": "b 9"}), "another")
    assert mentions(ssh._describe_end(names, {**now, "kills": 3}), "2 there", "lack")
    assert "memory" not in ssh._describe_end(names, {**now, "kills": None})


def test_the_record_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    by_id = ssh.SshById(ssh.Options(host="box"), tmp_path)
    (tmp_path / "process-7.json").write_text('{"born": "b 7", "boot": "b", "kills": 1}\n')
    assert by_id._process_record("7") == ssh._ProcessRecord(start="b 7", boot="b", kills=1)
    (tmp_path / "process-7.json").write_text("[]\n")
    with pytest.raises(CouldNotLook, match=r"process-7\.json"):
        by_id._process_record("7")
