"""Slurm, on a real one."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.ports import Absent, Found, Place, Submission
from herorun.schedulers import slurm
from herorun.schedulers._road import Here
from herorun.system.process import Answer
from ports.scheduler_suite import SECRET, Rig, SchedulerSuite, long_ago
from schedulers.test_slurm_stand_ins import stand_in_ssh
from services.slurm import Cluster
from stories import eventually

pytestmark = pytest.mark.back_end


def adapter(cluster: Cluster, state: Path, **options: object) -> slurm.Slurm:
    """Each folder is a run of its own: many of them share the cluster."""
    told = slurm.Options(**{"slurm_conf": cluster.conf, **options})
    return slurm.connect(told, Place("tiny", str(state), f"{state}/out", "/repository"))


@pytest.fixture
def state(cluster: Cluster, tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "state of it"
    yield folder
    for job in adapter(cluster, folder).live("tiny"):  # what a test has left running
        cluster.ask("scancel", "-s", "KILL", "-f", job.id, check=False)


@pytest.fixture
def rig(cluster: Cluster, state: Path, tmp_path: Path) -> Rig:
    code, elsewhere = tmp_path / "code", tmp_path / "elsewhere.conf"
    code.mkdir()
    elsewhere.write_text(
        "ClusterName=x\nSlurmctldHost=nowhere(127.0.0.1)\nSlurmctldPort=1\nMessageTimeout=2\n"
    )
    shown = (
        "scontrol show job",
        "squeue -t all -O Comment:,Command:",
        "sacct -a --format=SubmitLine,Comment",
    )

    def traces() -> Iterator[bytes]:
        yield from (path.read_bytes() for path in state.rglob("*") if path.is_file())
        yield from (cluster.ask(*words.split(" ")).encode() for words in shown)
        yield from (path.read_bytes() for path in (cluster.folder / "state").rglob("script"))

    return Rig(
        connect=lambda: adapter(cluster, state),
        blind=lambda: adapter(cluster, state, slurm_conf=str(elsewhere)),
        traces=traces,
        code=code,
        patience=30,
        resolution=timedelta(seconds=1),
    )


class TestSlurm(SchedulerSuite):
    """What every scheduler must do."""


# --- submission ----------------------------------------------------------------------------------------


def test_two_submitters_at_once_are_one_job(rig: Rig, cluster: Cluster) -> None:
    submission = rig.job("sleep 30")
    with ThreadPoolExecutor(2) as pool:
        jobs = list(pool.map(rig.submit, [submission, submission]))
    assert jobs[0].id == jobs[1].id
    assert [job.id for job in rig.connect().live("tiny")] == [jobs[0].id]


def test_of_two_clones_that_submit_at_once_one_gives_way(rig: Rig, cluster: Cluster, state: Path) -> None:
    """Neither sees the other's lock, and neither saw the other's job before: the lower number stays."""
    first = rig.submit(rig.job("sleep 30"))
    other = adapter(cluster, state)
    other._folder = state / "another clone"
    other._folder.mkdir()
    other._there = lambda instance: None  # as it looked a moment before
    second = other.submit(rig.job("sleep 30"), str(rig.code), rig.admission)
    assert second.id == first.id
    eventually(lambda: [job.id for job in rig.connect().live("tiny")] == [first.id], within=30)


def test_another_clone_finds_the_job_and_its_log(
    rig: Rig, cluster: Cluster, state: Path, tmp_path: Path
) -> None:
    job = rig.run(rig.job("echo here"))
    told = slurm.Options(slurm_conf=cluster.conf)
    elsewhere = slurm.connect(told, Place("tiny", str(tmp_path / "clone"), f"{state}/out", "/repository"))
    found = elsewhere.find("tiny-1", long_ago())
    assert isinstance(found, Found) and found.job.id == job.id
    assert elsewhere.tail("tiny-1", 5) == "here\n"


def test_a_submission_without_an_answer_is_looked_for(rig: Rig, cluster: Cluster, state: Path) -> None:
    """sbatch went through, and its answer was lost on the way."""
    scheduler = adapter(cluster, state)
    scheduler._road = Lossy()
    job = scheduler.submit(rig.job("sleep 30"), str(rig.code), rig.admission)
    assert [live.id for live in rig.connect().live("tiny")] == [job.id]


class Lossy(Here):
    def run(self, argv: Sequence[str], timeout: float, stdin: bytes = b"") -> Answer:
        answer = super().run(argv, timeout, stdin)
        if stdin:
            raise CouldNotLook("the answer was lost")
        return answer


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"partition": "nope"}, "invalid partition|Invalid partition"),
        ({"account": "nope"}, "Invalid account"),
        ({"qos": "nope"}, "Invalid qos"),
        ({"gres": "gpu:99"}, "node configuration is not available"),
        ({"arguments": ("--no-such-option",)}, "unrecognized option|Try"),
        ({"arguments": ("--dependency=afterok:999999",)}, "999999, which Slurm does not know"),
    ],
)
def test_what_slurm_refuses_is_wrong_use_in_one_sentence(
    rig: Rig, cluster: Cluster, state: Path, options: dict[str, object], said: str
) -> None:
    with pytest.raises(WrongUse, match=said) as error:
        adapter(cluster, state, **options).submit(rig.job("true"), str(rig.code), rig.admission)
    assert "\n" not in str(error.value)
    assert rig.connect().find("tiny-1", long_ago()) == Absent()


def test_a_code_folder_that_is_not_there_is_refused(rig: Rig) -> None:
    """Slurm itself would run it in /tmp."""
    with pytest.raises(WrongUse, match="there is no folder"):
        rig.connect().submit(rig.job("true"), str(rig.code / "gone"), rig.admission)
    with pytest.raises(WrongUse, match="there is no folder"):
        rig.submit(rig.job("true", cwd="gone"))


def test_the_request_is_shown_as_it_is_sent(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINING_TOKEN", SECRET)
    text = rig.connect().request(rig.job("true", secrets=("TRAINING_TOKEN",)), str(rig.code), rig.admission)
    assert "--export=TRAINING_TOKEN" in text and SECRET not in text


def test_variables_of_sbatch_and_of_an_outer_job_change_nothing(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "SBATCH_PARTITION": "nope",
        "SBATCH_ARRAY_INX": "1-3",
        "SQUEUE_PARTITION": "nope",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SQUEUE_FORMAT", "%i")
    assert rig.submit(rig.job("sleep 30")).state.live
    assert len(rig.connect().live("tiny")) == 1


# --- the partition ---------------------------------------------------------------------------------------


def test_a_partitions_limit_is_offered(cluster: Cluster, state: Path) -> None:
    plan = None  # the options alone decide
    assert adapter(cluster, state, partition="short").offers(plan).time_limit == 60
    assert adapter(cluster, state).offers(plan).time_limit is None
    with pytest.raises(CouldNotLook, match="not found"):
        adapter(cluster, state, partition="nope").offers(plan)


# --- stopping --------------------------------------------------------------------------------------------


def test_another_clone_learns_who_stopped_it(rig: Rig, cluster: Cluster, state: Path, tmp_path: Path) -> None:
    rig.submit(rig.job("sleep 30"))
    rig.connect().stop("tiny-1", "ada lovelace@box")
    rig.ended("tiny-1")
    told = slurm.Options(slurm_conf=cluster.conf)
    elsewhere = slurm.connect(told, Place("tiny", str(tmp_path / "clone"), f"{state}/out", "/repository"))
    found = elsewhere.find("tiny-1", long_ago())
    assert isinstance(found, Found) and found.job.stopped_by == "ada lovelace@box"


def test_a_job_of_another_run_is_never_cancelled(rig: Rig, cluster: Cluster, tmp_path: Path) -> None:
    rig.submit(rig.job("sleep 30"))
    with pytest.raises(WrongUse, match="There is no job tiny-1"):
        adapter(cluster, tmp_path / "another run").stop("tiny-1", "ada@box")
    assert rig.now("tiny-1").state.live


# --- behind a login node ---------------------------------------------------------------------------------


def test_a_job_runs_behind_a_login_node(
    cluster: Cluster, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slurm is real; `ssh` is a stand-in that gives a home, an environment and a shell of their own."""
    code = tmp_path / "code"
    code.mkdir()
    (code / "train.sh").write_text(
        'test "$TRAINING_TOKEN" = "$(echo correct)-horse-battery-9f2c" && grep -c "$PWD" "$HERORUN_ADMISSION"\n'
    )
    (tmp_path / "admission.json").write_text(json.dumps({"code": str(code)}))
    stand_in_ssh(tmp_path, monkeypatch)
    monkeypatch.setenv("TRAINING_TOKEN", SECRET)
    scheduler = adapter(cluster, state, host="alpha", user="ada")
    job = Submission("tiny-1", ("sh", "train.sh"), ".", {}, ("TRAINING_TOKEN",))
    scheduler.submit(job, str(code), str(tmp_path / "admission.json"))
    eventually(lambda: scheduler.find("tiny-1", long_ago()).job.state.ended, within=30)
    assert scheduler.find("tiny-1", long_ago()).job.exit_code == 0
    assert scheduler.tail("tiny-1", 5) == "1\n"
