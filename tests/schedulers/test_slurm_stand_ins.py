"""What a stand-in for Slurm's programs shows better than Slurm: how often they are asked, and how
they fail.
"""

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.evidence import JobState
from herorun.core.ports import Absent, Found, Place, Submission, Unknown
from herorun.schedulers import slurm
from herorun.schedulers._slurm.parse import Tag
from schedulers.test_slurm_answers import AS_ASKED, sacct, squeue
from wording import mentions

LONG_AGO = datetime.now(UTC) - timedelta(days=2)
JOB = Submission("tiny-1", ("true",), ".", {}, ())


class Slurm:
    """A folder of programs that print what they are told, and write down that they were asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bin").mkdir()
        (folder / "code").mkdir()
        for name in ("squeue", "sacct", "scontrol", "scancel", "sbatch"):
            self.says(name, "")

    def says(self, program: str, out: str, err: str = "", code: int = 0, first: str = "") -> None:
        (self.folder / f"{program}.out").write_text(out)
        (self.folder / f"{program}.err").write_text(err)
        path = self.folder / "bin" / program
        path.write_text(
            "#!/bin/sh\necho \"$*\" | head -c 400 | tr '\\n' ' ' >> "
            f"'{self.folder}/asked-{program}'\n"
            f"echo >> '{self.folder}/asked-{program}'\n{first}\n"
            f"{{\n{AS_ASKED}}} < '{self.folder}/{program}.out'; cat '{self.folder}/{program}.err' "
            f">&2; exit {code}\n"
        )
        path.chmod(0o755)

    def count_calls(self, program: str) -> int:
        path = self.folder / f"asked-{program}"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def adapter(self, **options: object) -> slurm.Slurm:
        slurm_options = slurm.Options(**{"slurm_bin": str(self.folder / "bin"), **options})
        return slurm.connect(
            slurm_options, Place("tiny", str(self.folder / "state"), "/out", "/repository")
        )

    @property
    def tag(self) -> Tag:
        return Tag(self.adapter()._run, "b" * 12, int(datetime.now(UTC).timestamp()))

    def queue(self, word: str, number: str = "71", **value: object) -> str:
        return squeue(
            word, number, **{"submitted": self.tag.at, "comment": self.tag.comment, **value}
        )

    def books(self, word: str, number: str = "71", **value: object) -> str:
        line = f"sbatch --comment={self.tag.comment} --parsable"
        return sacct(word, number, **{"submitted": self.tag.at, "line": line, **value})


@pytest.fixture
def stand_in(tmp_path: Path) -> Slurm:
    return Slurm(tmp_path)


# --- many jobs ------------------------------------------------------------------------------------


def test_a_thousand_jobs_are_watched_by_one_question_to_each(stand_in: Slurm) -> None:
    names = [f"tiny-{number}" for number in range(1, 1001)]
    queue = [stand_in.queue("RUNNING", str(n), name=name) for n, name in enumerate(names[:900], 1)]
    accounting_rows = [
        stand_in.books("COMPLETED", str(n), name=name) for n, name in enumerate(names[900:], 901)
    ]
    stand_in.says("squeue", "\n".join(queue))
    stand_in.says("sacct", "\n".join(accounting_rows))
    answers = stand_in.adapter().find_all(dict.fromkeys(names, LONG_AGO))
    states = [answer.job.state for answer in answers.values() if isinstance(answer, Found)]
    assert states == [JobState.RUNNING] * 900 + [JobState.SUCCEEDED] * 100
    assert (stand_in.count_calls("squeue"), stand_in.count_calls("sacct")) == (1, 1)


def test_accounting_is_left_alone_while_everything_runs(stand_in: Slurm) -> None:
    stand_in.says("squeue", stand_in.queue("RUNNING"))
    assert isinstance(stand_in.adapter().find("tiny-1", LONG_AGO), Found)
    assert (stand_in.count_calls("squeue"), stand_in.count_calls("sacct")) == (1, 0)


def test_what_is_called_as_the_run_and_is_not_herorun_s_stands_next_to_it(stand_in: Slurm) -> None:
    other = {"comment": "", "submitted": 1}
    rows = [
        stand_in.queue("RUNNING"),
        stand_in.queue("RUNNING", "72", name="tiny-probe", **other),
        stand_in.queue("COMPLETED", "73", name="tiny-eval", **other),
        stand_in.queue("RUNNING", "74", name="tiny-lm-1"),  # of another run, by its comment
        stand_in.queue("RUNNING", "75", name="tinytim", **other),
    ]
    stand_in.says("squeue", "\n".join(rows))
    assert [(job.id, job.instance) for job in stand_in.adapter().other_jobs("tiny")] == [
        ("72", "tiny-probe")
    ]
    assert [job.instance for job in stand_in.adapter().live_jobs("tiny")] == ["tiny-1"]


# --- failures -------------------------------------------------------------------------------------

DOWN = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)"
REFUSED_ERROR = (
    "sacct: error: slurm_persist_conn_open\nsacct: error: Problem talking to the database: "
    "Connection refused"
)
DISABLED_ERROR = "Slurm accounting storage is disabled\n"


@pytest.mark.parametrize(
    "fails",
    [
        lambda s: s.says("squeue", "", DOWN, 1),
        lambda s: s.says("squeue", "", DOWN, 0),  # seen of `squeue --json`: exit code 0 and no jobs
        lambda s: s.says("squeue", "down for maintenance"),
        lambda s: s.says("squeue", "", first="sleep 30"),
        lambda s: (s.folder / "bin" / "squeue").unlink(),
        lambda s: s.says("sacct", "", REFUSED_ERROR, 1),
        lambda s: s.says("sacct", "", REFUSED_ERROR, 0),
        lambda s: s.says("sacct", "", first="sleep 30"),
        lambda s: (s.folder / "bin" / "sacct").unlink(),
    ],
)
def test_an_answer_that_failed_is_never_an_absence(
    stand_in: Slurm, fails: Callable[[Slurm], object]
) -> None:
    fails(stand_in)
    answer = stand_in.adapter(timeout="1s").find("tiny-1", LONG_AGO)
    assert isinstance(answer, Unknown) and answer.why
    with pytest.raises(CouldNotLook):
        stand_in.adapter(timeout="1s").submit(JOB, str(stand_in.folder / "code"), "/admission.json")
    assert stand_in.count_calls("sbatch") == 0


def test_a_missing_program_is_reported_with_what_to_do(stand_in: Slurm) -> None:
    answer = stand_in.adapter(slurm_bin=str(stand_in.folder / "none")).find("tiny-1", LONG_AGO)
    assert isinstance(answer, Unknown) and mentions(answer.why, "must", "[scheduler]")


def test_without_accounting_only_this_clone_remembers(stand_in: Slurm) -> None:
    stand_in.says("sacct", "", DISABLED_ERROR, 1)
    scheduler = stand_in.adapter()
    assert scheduler.cluster_wide and scheduler.find("tiny-1", LONG_AGO) == Absent()
    assert not scheduler.cluster_wide


def test_that_there_is_no_accounting_is_in_a_snapshot(stand_in: Slurm) -> None:
    """Another process may have made it."""
    stand_in.says("sacct", "", DISABLED_ERROR, 1)
    snapshot = stand_in.adapter().snapshot({"tiny-1": LONG_AGO})
    scheduler = stand_in.adapter()
    assert scheduler.cluster_wide and not scheduler.with_snapshot(snapshot).cluster_wide
    assert not scheduler.cluster_wide


def test_without_accounting_an_end_is_reported_while_the_controller_remembers_it(
    stand_in: Slurm,
) -> None:
    stand_in.says("sacct", "", DISABLED_ERROR, 1)
    stand_in.says(
        "sbatch", "71\n", first=f"cp '{stand_in.folder}/later' '{stand_in.folder}/squeue.out'"
    )
    (stand_in.folder / "later").write_text(stand_in.queue("FAILED", code=768))
    job = stand_in.adapter().submit(JOB, str(stand_in.folder / "code"), "/admission.json")
    assert job.id == "71"
    search = stand_in.adapter().find("tiny-1", LONG_AGO)
    assert isinstance(search, Found) and (search.job.state, search.job.exit_code) == (
        JobState.FAILED,
        3,
    )
    stand_in.says("squeue", "")
    search = stand_in.adapter().find("tiny-1", LONG_AGO)
    assert isinstance(search, Found) and search.job.state is JobState.GONE


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("sbatch: error: Batch job submission failed: Invalid partition name specified", WrongUse),
        (
            "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
            CouldNotLook,
        ),
        (
            (
                "sbatch: error: Batch job submission failed: Unable to contact slurm controller "
                "(connect failure)"
            ),
            CouldNotLook,
        ),
        ("sbatch: error: something that nobody has seen", CouldNotLook),
    ],
)
def test_a_refusal_is_for_good_and_anything_else_is_in_doubt(
    stand_in: Slurm, text: str, error: type[Exception]
) -> None:
    stand_in.says("sbatch", "", text, 1)
    with pytest.raises(error) as error_info:
        stand_in.adapter().submit(JOB, str(stand_in.folder / "code"), "/admission.json")
    assert "\n" not in str(error_info.value)


def test_a_submission_in_doubt_that_went_through_is_the_job(stand_in: Slurm) -> None:
    late = f"cp '{stand_in.folder}/later' '{stand_in.folder}/squeue.out'"
    (stand_in.folder / "later").write_text(stand_in.queue("PENDING"))
    stand_in.says(
        "sbatch", "", "sbatch: error: Socket timed out on send/recv operation", 1, first=late
    )
    assert (
        stand_in.adapter().submit(JOB, str(stand_in.folder / "code"), "/admission.json").id == "71"
    )


# --- stopping -------------------------------------------------------------------------------------


def test_a_job_of_another_user_is_named_and_nobody_is_said_to_have_stopped_it(
    stand_in: Slurm,
) -> None:
    stand_in.says("squeue", stand_in.queue("RUNNING", user="grace"))
    denied_error = "scancel: error: Kill job error on job id 71: Access/permission denied"
    stand_in.says("scancel", "", denied_error, 210)
    with pytest.raises(WrongUse, match=r"71 of.*user"):
        stand_in.adapter().stop("tiny-1", "ada@box")
    stand_in.says("squeue", "")
    stand_in.says("sacct", stand_in.books("CANCELLED by 0"))
    search = stand_in.adapter().find("tiny-1", LONG_AGO)
    assert isinstance(search, Found) and search.job.stopped_by == "root"


def test_only_the_number_that_was_seen_is_cancelled(stand_in: Slurm) -> None:
    stand_in.says("squeue", stand_in.queue("RUNNING", "4711"))
    stand_in.adapter().stop("tiny-1", "ada@box")
    assert (stand_in.folder / "asked-scancel").read_text().split() == ["4711"]


def test_a_user_whom_nobody_knows_stays_a_number(stand_in: Slurm) -> None:
    stand_in.says("sacct", stand_in.books("CANCELLED by 54321"))
    search = stand_in.adapter().find("tiny-1", LONG_AGO)
    assert isinstance(search, Found) and search.job.stopped_by == "uid 54321"


# --- behind a login node --------------------------------------------------------------------------

SSH = """\
#!/bin/sh
# A login node on this machine: a home and an environment of its own, and a shell for what comes last.
for last; do :; done
cd '{home}' && exec env -i HOME='{home}' PATH=/usr/bin:/bin sh -c "$last"
"""  # noqa: E501  # a text that is read as it stands


def stand_in_ssh(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, program = folder / "home", folder / "path" / "ssh"
    home.mkdir()
    program.parent.mkdir()
    program.write_text(SSH.format(home=home))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def login(stand_in: Slurm, monkeypatch: pytest.MonkeyPatch) -> Slurm:
    stand_in_ssh(stand_in.folder, monkeypatch)
    return stand_in


def test_code_and_admission_are_copied_behind_a_login_node(
    login: Slurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "s3'cret")
    (login.folder / "code" / "train.py").write_text("print(1)\n")
    (login.folder / "admission.json").write_text('{"code": "/here", "slug": "tiny"}')
    keep = (
        f"env > '{login.folder}/env'; cat > '{login.folder}/script'; cp '{login.folder}/later' "
        f"'{login.folder}/squeue.out'"
    )
    login.says("sbatch", "71\n", first=keep)
    (login.folder / "later").write_text(login.queue("PENDING"))
    job = Submission("tiny-1", ("python", "train.py"), ".", {}, ("TOKEN",))
    code, admission = str(login.folder / "code"), str(login.folder / "admission.json")
    scheduler = login.adapter(host="alpha")
    assert scheduler.submit(job, code, admission).id == "71"
    (home,) = (login.folder / "home" / ".herorun").glob("tiny-*/tiny-1")
    assert (home / "code" / "train.py").read_text() == "print(1)\n"
    assert f'"code":"{home}/code"' in (home / "admission.json").read_text().replace(": ", ":")
    assert "TOKEN=s3'cret" in (login.folder / "env").read_text()
    assert (
        "cret"
        not in (login.folder / "asked-sbatch").read_text() + (login.folder / "script").read_text()
    )
    assert not [
        path
        for path in (login.folder / "home").rglob("*")
        if path.is_file() and b"cret" in path.read_bytes()
    ]
    (home.parent / "tiny-1.log.d" / "job.log").write_text("one\ntwo\n")
    assert scheduler.tail("tiny-1", 1) == "two\n"
    assert (scheduler.reach, scheduler.log) == ("ssh", None)


def test_a_login_node_out_of_reach_is_no_empty_cluster(login: Slurm) -> None:
    (login.folder / "path" / "ssh").write_text(
        "#!/bin/sh\necho 'ssh: connect to host alpha: refused' >&2; exit 255\n"
    )
    scheduler = login.adapter(host="alpha")
    answer = scheduler.find("tiny-1", LONG_AGO)
    assert isinstance(answer, Unknown) and "alpha" in answer.why and "refused" in answer.why
    for look in (lambda: scheduler.live_jobs("tiny"), lambda: scheduler.tail("tiny-1", 5)):
        with pytest.raises(CouldNotLook, match="refused"):
            look()


def test_a_checkout_is_not_copied(login: Slurm) -> None:
    (login.folder / "code" / ".git").mkdir()
    with pytest.raises(WrongUse, match="in_place"):
        login.adapter(host="alpha").submit(JOB, str(login.folder / "code"), "/admission.json")


def test_a_job_that_was_submitted_months_ago_and_lives_can_be_stopped(stand_in: Slurm) -> None:
    """A hero run may run for longer than anybody looks back for a job that has ended."""
    start = int((datetime.now(UTC) - timedelta(days=100)).timestamp())
    stand_in.says("squeue", stand_in.queue("RUNNING", submitted=start))
    stand_in.adapter().stop("tiny-1", "ada@one")
    assert stand_in.count_calls("scancel") == 1
