"""Slurm, on a real one."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from shutil import which
from threading import Barrier

import pytest

from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.evidence import JobState
from herorun.core.ports import Absent, Found, Place, Submission, Unknown
from herorun.operations.health.shared_polls import SharedPolls
from herorun.schedulers import slurm
from herorun.schedulers._transport import LocalTransport, SshTransport
from herorun.system.process import ProcessResult
from ports.scheduler_suite import (
    SECRET,
    ReadsLogsOn,
    Rig,
    SchedulerSuite,
    SharesLooks,
    long_ago,
    read_or_none,
)
from schedulers.test_slurm_answers import squeue
from services.boxes import Box
from services.relay import free_port
from services.slurm import Cluster
from stories import eventually

pytestmark = pytest.mark.back_end


def adapter(cluster: Cluster, state: Path, **options: object) -> slurm.Slurm:
    """Each folder is a run of its own: many of them share the cluster."""
    slurm_options = slurm.Options(**{"slurm_conf": cluster.conf, **options})
    return slurm.connect(slurm_options, Place("tiny", str(state), f"{state}/out", "/repository"))


@pytest.fixture
def state(cluster: Cluster, tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "state of it"
    yield folder
    for job in adapter(cluster, folder).live_jobs("tiny"):  # what a test has left running
        cluster.ask("scancel", "-s", "KILL", "-f", job.id, check=False)


@pytest.fixture
def rig(cluster: Cluster, state: Path, tmp_path: Path) -> Rig:
    code, elsewhere = tmp_path / "code", tmp_path / "elsewhere.conf"
    code.mkdir()
    elsewhere.write_text(
        "ClusterName=x\nSlurmctldHost=nowhere(127.0.0.1)\nSlurmctldPort=1\nMessageTimeout=2\n"
    )
    commands = (
        "scontrol show job",
        "squeue -t all -O Comment:,Command:",
        "sacct -a --format=SubmitLine,Comment",
    )

    def traces() -> Iterator[bytes]:
        yield from (path.read_bytes() for path in state.rglob("*") if path.is_file())
        yield from (cluster.ask(*words.split(" ")).encode() for words in commands)
        yield from (path.read_bytes() for path in (cluster.folder / "state").rglob("script"))

    return Rig(
        connect=lambda: adapter(cluster, state),
        blind=lambda: adapter(cluster, state, slurm_conf=str(elsewhere)),
        traces=traces,
        code=code,
        patience=60,
        resolution=timedelta(seconds=1),
    )


class TestSlurm(SchedulerSuite, ReadsLogsOn, SharesLooks):
    """What every scheduler must do."""


# --- submission -----------------------------------------------------------------------------------


def test_two_submitters_at_once_are_one_job(rig: Rig, cluster: Cluster) -> None:
    submission = rig.job("sleep 30")
    with ThreadPoolExecutor(2) as pool:
        jobs = list(pool.map(rig.submit, [submission, submission]))
    assert jobs[0].id == jobs[1].id
    assert [job.id for job in rig.connect().live_jobs("tiny")] == [jobs[0].id]


def test_two_clones_that_submit_at_once_are_one_job(
    rig: Rig, cluster: Cluster, state: Path, tmp_path: Path
) -> None:
    """Neither sees the other's lock, and both look before either submits: the lower number
    stays.
    """
    options, both = slurm.Options(slurm_conf=cluster.conf), Barrier(2)
    places = [
        Place("tiny", str(tmp_path / name), f"{state}/out", "/repository")
        for name in ("one", "two")
    ]

    def submit(place: Place) -> str:
        scheduler = slurm.connect(options, place)
        look = scheduler._submitted_job
        scheduler._submitted_job = lambda instance: (look(instance), both.wait(30))[0]
        return scheduler.submit(rig.job("sleep 2"), str(rig.code), rig.admission).id

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(submit, places)
    assert first == second
    scheduler = rig.connect()
    # Slurm cancels the other job after it has answered
    eventually(lambda: {job.id for job in scheduler.live_jobs("tiny")} <= {first})
    job = rig.wait_for_end("tiny-1")
    assert (job.id, job.state) == (first, JobState.SUCCEEDED)


def test_three_runs_are_watched_by_one_squeue_and_one_sacct(
    rig: Rig, cluster: Cluster, state: Path, tmp_path: Path
) -> None:
    """One runs, one has ended, and one was never submitted. Slurm is real, and its programs are
    counted.
    """
    counting_folder, calls_log = tmp_path / "counted", tmp_path / "asked"
    counting_folder.mkdir()
    for name in ("squeue", "sacct", "sbatch", "scancel", "scontrol"):
        (counting_folder / name).write_text(
            f"#!/bin/sh\necho {name} >> '{calls_log}'\nexec {which(name)} \"$@\"\n"
        )
        (counting_folder / name).chmod(0o755)
    options = slurm.Options(slurm_conf=cluster.conf, slurm_bin=str(counting_folder), settle="1ms")
    runs = {
        name: slurm.connect(
            options, Place("tiny", str(state / name), f"{state}/{name}", "/repository")
        )
        for name in ("runs", "ended", "never")
    }
    job = runs["ended"].submit(rig.job("exit 3"), str(rig.code), rig.admission)
    eventually(lambda: runs["ended"].find("tiny-1", long_ago()).job.state.is_final, within=120)
    runs["runs"].submit(rig.job("sleep 60", number=2), str(rig.code), rig.admission)
    fields = {"runs": "tiny-2", "ended": "tiny-1", "never": "tiny-3"}
    calls_log.write_text("")
    polls = SharedPolls()
    for name, instance in fields.items():
        polls.note_intent(name, runs[name], (instance, long_ago()))
    snapshots = {
        name: polls.share(name, runs[name], (instance, long_ago()), timedelta(minutes=5))
        for name, instance in fields.items()
    }
    searches = {
        name: snapshots[name].find(instance, long_ago()) for name, instance in fields.items()
    }
    live = {name: [each.instance for each in snapshots[name].live_jobs("tiny")] for name in fields}
    assert calls_log.read_text().split() == ["squeue", "sacct"]
    assert searches["ended"].job.id == job.id and searches["ended"].job.exit_code == 3
    assert searches["runs"].job.state.live and searches["never"] == Absent()
    assert live == {"runs": ["tiny-2"], "ended": [], "never": []}
    runs["runs"].stop("tiny-2", "ada@box")


def test_another_clone_finds_the_job_and_its_log(
    rig: Rig, cluster: Cluster, state: Path, tmp_path: Path
) -> None:
    job = rig.run(rig.job("echo here"))
    options = slurm.Options(slurm_conf=cluster.conf)
    elsewhere = slurm.connect(
        options, Place("tiny", str(tmp_path / "clone"), f"{state}/out", "/repository")
    )
    search = elsewhere.find("tiny-1", long_ago())
    assert isinstance(search, Found) and search.job.id == job.id
    assert elsewhere.tail("tiny-1", 5) == "here\n"
    places = [each.log_place("tiny-1") for each in (rig.connect(), elsewhere)]
    assert Path(places[0]).read_text() == "here\n" and not places[1]  # not in this clone's folder


def test_another_clone_that_stopped_the_job_still_finds_its_log(
    rig: Rig, cluster: Cluster, state: Path, tmp_path: Path
) -> None:
    scheduler = rig.connect()
    scheduler.submit(rig.job("echo here; sleep 600"), str(rig.code), rig.admission)
    eventually(lambda: Path(scheduler.log_place("tiny-1")).exists())
    options = slurm.Options(slurm_conf=cluster.conf)
    place = Place("tiny", str(tmp_path / "clone"), f"{state}/out", "/repository")
    slurm.connect(options, place).stop("tiny-1", "ada@box")
    elsewhere = slurm.connect(options, place)
    assert "here" in elsewhere.tail("tiny-1", 5)
    assert not elsewhere.log_place("tiny-1")
    eventually(lambda: elsewhere.find("tiny-1", long_ago()).job.state is JobState.CANCELLED)


def test_a_submission_without_an_answer_is_looked_for(
    rig: Rig, cluster: Cluster, state: Path
) -> None:
    """sbatch went through, and its answer was lost on the way."""
    scheduler = adapter(cluster, state)
    scheduler._slurm.transport = Lossy()
    job = scheduler.submit(rig.job("sleep 30"), str(rig.code), rig.admission)
    assert [live.id for live in rig.connect().live_jobs("tiny")] == [job.id]


class Lossy(LocalTransport):
    def run(self, argv: Sequence[str], timeout: float, stdin: bytes = b"") -> ProcessResult:
        answer = super().run(argv, timeout, stdin)
        if stdin:
            raise CouldNotLook("the answer was lost")
        return answer


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"partition": "nope"}, "invalid partition|Invalid partition"),
        ({"account": "nope"}, "Invalid account"),
        ({"qos": "nope"}, "Invalid qos"),
        ({"gres": "gpu:99"}, r"node configuration.* not available"),
        ({"arguments": ("--no-such-option",)}, "unrecognized option|Try"),
        ({"arguments": ("--dependency=afterok:999999",)}, r"999999, .*not list"),
    ],
)
def test_what_slurm_refuses_is_wrong_use_in_one_sentence(
    rig: Rig, cluster: Cluster, state: Path, options: dict[str, object], text: str
) -> None:
    with pytest.raises(WrongUse, match=text) as error:
        adapter(cluster, state, **options).submit(rig.job("true"), str(rig.code), rig.admission)
    assert "\n" not in str(error.value)
    assert rig.connect().find("tiny-1", long_ago()) == Absent()


def test_a_code_folder_that_is_not_there_is_refused(rig: Rig) -> None:
    """Slurm itself would run it in /tmp."""
    with pytest.raises(WrongUse, match="folder"):
        rig.connect().submit(rig.job("true"), str(rig.code / "gone"), rig.admission)
    with pytest.raises(WrongUse, match="folder"):
        rig.submit(rig.job("true", cwd="gone"))


def test_the_request_is_shown_as_it_is_sent(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINING_TOKEN", SECRET)
    text = rig.connect().request(
        rig.job("true", secrets=("TRAINING_TOKEN",)), str(rig.code), rig.admission
    )
    assert "--export=TRAINING_TOKEN" in text and SECRET not in text


@pytest.mark.parametrize("secrets", [(), ("TRAINING_TOKEN",)])
def test_the_tasks_of_srun_get_the_jobs_environment(
    rig: Rig,
    cluster: Cluster,
    state: Path,
    monkeypatch: pytest.MonkeyPatch,
    secrets: tuple[str, ...],
) -> None:
    monkeypatch.setenv("TRAINING_TOKEN", SECRET)
    step = "srun sh -c 'echo task $HERORUN_INSTANCE $SEED ${#TRAINING_TOKEN}'"
    job = rig.job(step, secrets=secrets)
    job = replace(job, env={**job.env, "SEED": "7"})
    adapter(cluster, state, nodes=2).submit(job, str(rig.code), rig.admission)
    assert rig.wait_for_end("tiny-1").state is JobState.SUCCEEDED, rig.tail("tiny-1")
    length = len(SECRET) if secrets else 0
    assert rig.tail("tiny-1").splitlines().count(f"task tiny-1 7 {length}") == 2


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
    assert len(rig.connect().live_jobs("tiny")) == 1


# --- the partition --------------------------------------------------------------------------------


def test_a_partitions_limit_is_offered(cluster: Cluster, state: Path) -> None:
    plan = None  # the options alone decide
    assert adapter(cluster, state, partition="short").offers(plan).time_limit == 60
    assert adapter(cluster, state).offers(plan).time_limit is None
    with pytest.raises(CouldNotLook, match="not found"):
        adapter(cluster, state, partition="nope").offers(plan)


# --- stopping -------------------------------------------------------------------------------------


def test_another_clone_learns_who_stopped_it(
    rig: Rig, cluster: Cluster, state: Path, tmp_path: Path
) -> None:
    rig.submit(rig.job("sleep 30"))
    rig.connect().stop("tiny-1", "ada lovelace@box")
    rig.wait_for_end("tiny-1")
    options = slurm.Options(slurm_conf=cluster.conf)
    elsewhere = slurm.connect(
        options, Place("tiny", str(tmp_path / "clone"), f"{state}/out", "/repository")
    )
    search = elsewhere.find("tiny-1", long_ago())
    assert isinstance(search, Found) and search.job.stopped_by == "ada lovelace@box"


def test_a_job_of_another_run_is_never_cancelled(
    rig: Rig, cluster: Cluster, tmp_path: Path
) -> None:
    rig.submit(rig.job("sleep 30"))
    with pytest.raises(WrongUse, match="tiny-1"):
        adapter(cluster, tmp_path / "another run").stop("tiny-1", "ada@box")
    assert rig.now("tiny-1").state.live


def test_a_job_whose_name_holds_rows_of_jobs_is_one_job(cluster: Cluster, state: Path) -> None:
    forged_name = (
        f"odd\n{squeue('RUNNING', '4711', comment='')}\n{squeue('RUNNING', '4712', comment='')}"
    )
    job = cluster.ask("sbatch", "--parsable", "--hold", f"--job-name={forged_name}", "--wrap=true")
    assert adapter(cluster, state).live_jobs("tiny") == ()
    assert forged_name.strip() in [row.name for row in adapter(cluster, state)._queue()]
    cluster.ask("scancel", job)


# --- behind a login node --------------------------------------------------------------------------


@pytest.fixture
def node(login_node: Box) -> Iterator[Box]:
    yield login_node
    login_node.fix()


def behind(node: Box, cluster: Cluster, state: Path, **changes: object) -> slurm.Slurm:
    """From a laptop; a link that is cut is given up after two seconds."""
    fields = {
        "host": node.name,
        "ssh_config": str(node.config),
        "folder": str(state / "there"),
        **changes,
    }
    scheduler = adapter(cluster, state, **{"timeout": "10s", **fields})
    scheduler._slurm.transport = SshTransport(slurm.login_of(scheduler._options), connect=2)
    scheduler._files._transport = scheduler._slurm.transport
    return scheduler


def test_a_job_runs_behind_a_login_node(
    cluster: Cluster, node: Box, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slurm and the ssh server are real."""
    code = tmp_path / "code"
    code.mkdir()
    (code / "train.sh").write_text(
        'test "$TRAINING_TOKEN" = "$(echo correct)-horse-battery-9f2c" && grep -c "$PWD" '
        '"$HERORUN_ADMISSION"\n'
        f"until test -e '{tmp_path}/go'; do sleep 0.05; done; echo two; sleep 60\n"
    )
    (tmp_path / "admission.json").write_text(json.dumps({"code": str(code)}))
    monkeypatch.setenv("TRAINING_TOKEN", SECRET)
    scheduler = behind(node, cluster, state)
    job = Submission("tiny-1", ("sh", "train.sh"), ".", {}, ("TRAINING_TOKEN",))
    number = scheduler.submit(job, str(code), str(tmp_path / "admission.json")).id
    eventually(lambda: read_or_none(scheduler.read_log, "tiny-1"), within=120)
    part = scheduler.read_log("tiny-1", 0, 100)
    assert part.data == b"1\n"

    node.cut()
    timeout, scheduler._slurm.timeout = scheduler._slurm.timeout, 1.0
    answer = scheduler.find("tiny-1", long_ago())
    assert isinstance(answer, Unknown) and node.name in answer.why and "\n" not in answer.why
    with pytest.raises(CouldNotLook, match=node.name) as blind:
        scheduler.live_jobs("tiny")
    assert blind.value.exit_code == 3
    node.fix()
    scheduler._slurm.timeout = timeout

    (tmp_path / "go").touch()
    eventually(
        lambda: scheduler.read_log("tiny-1", part.offset, 100, part.mark).data == b"two\n",
        within=60,
    )
    assert scheduler.tail("tiny-1", 1) == "two\n"
    assert [live.id for live in scheduler.live_jobs("tiny")] == [number]
    scheduler.stop("tiny-1", "ada@laptop")
    eventually(lambda: scheduler.find("tiny-1", long_ago()).job.state.is_final, within=120)
    assert scheduler.find("tiny-1", long_ago()).job.stopped_by == "ada@laptop"


def test_what_is_wrong_with_the_way_to_it_is_one_sentence(
    cluster: Cluster, node: Box, state: Path, rig: Rig, tmp_path: Path
) -> None:
    key = tmp_path / "another key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True, timeout=20
    )
    strange = tmp_path / "config"
    strange.write_text(node.config.read_text().replace(f"{node.folder}/id\n", f'"{key}"\n'))
    wrong = {
        "rejects the key": {"ssh_config": str(strange)},
        "refuses the connection": {"port": free_port()},
        "squeue was not found": {"slurm_bin": "/nowhere"},
    }
    for output, changes in wrong.items():
        with pytest.raises(CouldNotLook, match=output) as error:
            behind(node, cluster, state, **changes).submit(
                rig.job("true"), str(rig.code), rig.admission
            )
        assert "\n" not in str(error.value) and error.value.exit_code == 3
