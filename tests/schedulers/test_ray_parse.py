"""What Ray's answers mean, from recordings, and what it is sent: no cluster is asked."""

import json
import subprocess
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path

import pytest

from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.evidence import Job, JobState
from herorun.core.health.queue_reasons import Waiting, why_waiting
from herorun.core.ports import Submission
from herorun.schedulers._ray.cluster import (
    began,
    demand_of,
    describe_unplaced,
    hardware_of,
    nodes_of,
)
from herorun.schedulers._ray.log import own_lines
from herorun.schedulers._ray.package import package
from herorun.schedulers._ray.parse import RayJob, RayStop, job_of, record_of, records_of
from herorun.schedulers._ray.request import Needs, UploadPaths, entrypoint, request_of
from wording import mentions

RECORDING = json.loads((Path(__file__).parents[1] / "recordings" / "ray" / "jobs.json").read_text())
AT = datetime(2026, 11, 21, 12, tzinfo=UTC)
BY_US = RayStop("ada@box", AT)
SHARED_PATHS = UploadPaths(None, "/code", "/state/admission.json")


def a_record(word: str, **changes: object) -> RayJob:
    record = record_of(RECORDING[word] | changes)
    assert record is not None
    return record


def job(word: str, stop: RayStop | None = None, lost_on: str = "", **changes: object) -> Job:
    return job_of(a_record(word, **changes), "tiny-1", stop, lost_on)


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "state", "raw"),
    [
        ("succeeded", JobState.SUCCEEDED, "SUCCEEDED"),
        ("failed", JobState.FAILED, "FAILED JOB_ENTRYPOINT_COMMAND_ERROR"),
        ("stopped", JobState.CANCELLED, "STOPPED"),
        ("pending", JobState.PENDING, "PENDING"),
        ("started too late", JobState.UNSCHEDULABLE, "FAILED JOB_SUPERVISOR_ACTOR_START_TIMEOUT"),
        ("supervisor died", JobState.FAILED, "FAILED JOB_SUPERVISOR_ACTOR_DIED"),
    ],
)
def test_each_word_has_a_state_and_is_kept(word: str, state: JobState, raw: str) -> None:
    assert (job(word).state, job(word).raw) == (state, raw)


@pytest.mark.parametrize("word", ["PAUSED", "", "succeeded"])
def test_an_unknown_word_is_neither_live_nor_ended(word: str) -> None:
    state = job("succeeded", status=word).state
    assert (state, state.live, state.is_final) == (JobState.UNKNOWN, False, False)


@pytest.mark.parametrize(
    ("message", "state"),
    [
        (
            "Job supervisor actor died: The actor died because its node has died. Node Id: 09de",
            JobState.NODE_FAILED,
        ),
        (
            "Unexpected error occurred: The actor died unexpectedly: the node was terminated",
            JobState.NODE_FAILED,
        ),
        (
            "Job supervisor actor died: Task was killed due to the node running low on memory.",
            JobState.OUT_OF_MEMORY,
        ),
        (
            (
                "Job supervisor actor died: The actor died unexpectedly. Some common causes "
                "include: (1) the process was killed "
                "by the OOM killer due to high memory usage, (2) ray stop --force was called, or "
                "(3) SIGSEGV."
            ),
            JobState.FAILED,
        ),
    ],
)
def test_what_took_the_supervisor_is_recognised_by_its_message(
    message: str, state: JobState
) -> None:
    assert job("supervisor died", message=message).state is state


def test_a_supervisor_on_a_dead_node_has_lost_its_node() -> None:
    job_of_dead_node = job("supervisor died", lost_on="192.0.2.2")
    assert (job_of_dead_node.state, job_of_dead_node.failed_on) == (
        JobState.NODE_FAILED,
        ("192.0.2.2",),
    )


def test_the_memory_monitor_in_the_log_is_out_of_memory_and_an_accelerators_is_not() -> None:
    ends = (
        "Job entrypoint command failed with exit code 1, last available logs (truncated to 20,000 "
        "chars):\n"
    )
    assert (
        job("failed", message=f"{ends}ray.exceptions.OutOfMemoryError: ...").state
        is JobState.OUT_OF_MEMORY
    )
    assert job("failed", message=f"{ends}torch.cuda.OutOfMemoryError: ...").state is JobState.FAILED
    assert job("failed", message=f"{ends}the node has died, said the log").state is JobState.FAILED


def test_a_signal_is_no_exit_code() -> None:
    killed_job = job("failed", driver_exit_code=-9)
    assert (killed_job.exit_code, killed_job.signal, killed_job.has_crashed) == (
        None,
        "SIGKILL",
        True,
    )
    assert job("failed", driver_exit_code=137).exit_code == 137


def test_the_reason_is_rays_sentence_without_the_log() -> None:
    assert mentions(job("failed").reason, "entrypoint", "3")


def test_who_stopped_it_is_known_only_where_we_passed_it_on() -> None:
    ours, others = job("stopped", BY_US), job("stopped")
    assert (ours.stopped_by, ours.has_crashed, ours.stopped_by_hand) == ("ada@box", False, True)
    assert (others.stopped_by, others.has_crashed) == (None, False)


def test_one_that_was_stopped_before_it_was_placed_says_so_and_has_not_crashed() -> None:
    assert mentions(job("pending", BY_US).reason, "asked", "ada@box")
    assert (job("started too late", BY_US).state, job("started too late").has_crashed) == (
        JobState.CANCELLED,
        True,
    )


def test_a_crash_before_the_stop_arrived_is_a_crash() -> None:
    assert (job("failed", BY_US).state, job("failed", BY_US).stopped_by) == (JobState.FAILED, None)


def test_rays_guess_at_what_a_job_waits_for_is_no_state() -> None:
    message = "Job has not started yet. It may be waiting for the runtime environment to be set up."
    assert job("pending", message=message).state is JobState.PENDING


def test_a_pending_job_was_submitted_and_has_not_started() -> None:
    assert (job("pending").started, job("pending").submitted) == (
        None,
        datetime(2026, 11, 21, 22, 4, 51, 454000, UTC),
    )


def test_somebodys_own_driver_is_no_submitted_job() -> None:
    assert records_of([RECORDING["failed"] | {"type": "DRIVER", "submission_id": None}]) == ()


@pytest.mark.parametrize(
    "value", [None, {}, {"jobs": []}, "jobs", [3], [{"submission_id": "tiny-1"}]]
)
def test_another_shape_is_not_read_as_no_jobs(value: object) -> None:
    with pytest.raises(CouldNotLook, match="format"):
        records_of(value)


# --- the cluster ----------------------------------------------------------------------------------

NODES = {
    "data": {
        "result": {
            "result": [
                {"node_id": "a", "node_ip": "192.0.2.2", "state": "ALIVE", "start_time_ms": 1795298624760,  # noqa: E501  # one entry of a table, or one recorded value
                 "resources_total": {"CPU": 8.0, "GPU": 4.0, "accelerator_type:H100": 1.0}},
                {"node_id": "b", "node_ip": "192.0.2.3", "state": "DEAD", "start_time_ms": 1795298600000, "resources_total": {}},  # noqa: E501  # one entry of a table, or one recorded value
            ]
        }
    }
}  # fmt: skip
STATUS = {
    "data": {
        "clusterStatus": {
            "autoscalerReport": {"pendingNodes": []},
            "loadMetricsReport": {
                "resourceDemand": [[{"tpu": 2.0, "CPU": 64.0}, 1]],
                "nodeTypes": [[{"CPU": 4.0}, 1]],
            },
        }
    }
}


def test_a_demand_that_no_node_meets_is_the_wrong_hardware_and_one_that_waits_is_capacity() -> None:
    demand = demand_of(STATUS)
    assert mentions(demand, "64", "CPU", "2 tpu", "satisfies")
    assert why_waiting(demand) is Waiting.HARDWARE
    that_fits = json.loads(json.dumps(STATUS).replace('"CPU": 4.0', '"CPU": 96.0, "tpu": 4.0'))
    assert why_waiting(demand_of(that_fits)) is Waiting.CAPACITY


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"data": {"clusterStatus": None}},
        {"data": {"clusterStatus": {"loadMetricsReport": {}}}},
    ],
)
def test_a_status_without_demand_adds_nothing(value: object) -> None:
    assert demand_of(value) == ""


def test_a_cluster_remembers_since_the_oldest_thing_that_it_knows() -> None:
    nodes = nodes_of(NODES)
    assert began(nodes, ()) == datetime(2026, 11, 21, 22, 3, 20, tzinfo=UTC)
    older = replace(a_record("succeeded"), submitted=AT)
    assert began(nodes, (older,)) == AT
    assert began((), ()) is None


def test_only_the_placement_groups_of_the_same_job_count() -> None:
    groups = [
        {"creator_job_id": "01", "state": "PENDING"},
        {"creator_job_id": "02", "state": "CREATED"},
    ]
    fields = {"data": {"result": {"result": groups}}}
    assert describe_unplaced(fields, "02") == ""
    assert mentions(describe_unplaced(fields, "01"), "1 of", "1 placement", "wait")


def test_the_hardware_is_reported_as_far_as_the_cluster_shows_it() -> None:
    nodes = nodes_of(NODES)
    assert hardware_of(nodes, {"accelerator": "H100", "count": 4}) == (
        {"accelerator": "H100", "count": 4},
        "",
    )
    hardware, partial = hardware_of(nodes, {"count": 8})
    assert hardware == {"accelerator": "H100"} and "4 accelerators now" in partial


# --- the request ----------------------------------------------------------------------------------


def a_submission(**changes: object) -> Submission:
    return replace(
        Submission("tiny-1", ("python", "train.py"), ".", {"NCCL_DEBUG": "INFO"}, ()), **changes
    )


def test_the_request_is_the_same_each_time_and_carries_the_instance() -> None:
    requests = [
        request_of(
            a_submission(),
            "p-tiny-1",
            SHARED_PATHS,
            Needs(2, 1, None, {"tpu": 4}),
            timedelta(minutes=2),
            "sha256:1",
        )
        for _ in "ab"
    ]
    assert requests[0] == requests[1]
    assert requests[0] == {
        "submission_id": "p-tiny-1",
        "entrypoint": 'cd /code || exit 126; export HERORUN_ADMISSION=/state/admission.json '
            'HERORUN_CODE="$PWD" '
        "HERORUN_MAIN_PID=$$; exec python train.py",
        "runtime_env": {
            "env_vars": {"RAY_JOB_STOP_WAIT_TIME_S": "120", "NCCL_DEBUG": "INFO", "HERORUN_INSTANCE": "tiny-1", "HERORUN_ATTEMPT": "1"}  # noqa: E501  # one entry of a table, or one recorded value
        },
        "metadata": {"herorun_run": "tiny", "herorun_instance": "tiny-1", "herorun_plan": "sha256:1"},  # noqa: E501  # one entry of a table, or one recorded value
        "entrypoint_num_cpus": 2,
        "entrypoint_num_gpus": 1,
        "entrypoint_resources": {"tpu": 4},
    }  # fmt: skip


def test_what_ray_would_expand_travels_in_the_entrypoint_and_arrives_as_it_is(
    tmp_path: Path,
) -> None:
    odd = {"ODD": "$HOME ${HOME} `x` '\n", "PLAIN": "é 'x'"}
    where = replace(SHARED_PATHS, code=str(tmp_path))
    submission = a_submission(
        argv=("sh", "-c", 'printf "%s|" "$ODD" "$1"', "sh", "-n $HOME"), env=odd
    )
    body = request_of(submission, "tiny-1", where, Needs(), timedelta(seconds=1), "")
    assert (
        "ODD" not in body["runtime_env"]["env_vars"]
        and body["runtime_env"]["env_vars"]["PLAIN"] == "é 'x'"
    )
    output = subprocess.run(
        body["entrypoint"], shell=True, capture_output=True, text=True, check=True
    ).stdout
    assert output == f"{odd['ODD']}|-n $HOME|"


def test_a_secret_that_is_not_on_the_cluster_ends_the_job_before_it_begins(tmp_path: Path) -> None:
    where = replace(SHARED_PATHS, code=str(tmp_path))
    script = entrypoint(a_submission(argv=("touch", "ran"), secrets=("HF_TOKEN",)), where)
    process = subprocess.run(
        script, shell=True, capture_output=True, text=True, env={"PATH": "/bin:/usr/bin"}
    )
    assert (process.returncode, mentions(process.stderr, "HF_TOKEN"), list(tmp_path.iterdir())) == (
        78,
        True,
        [],
    )


@pytest.mark.parametrize("name", ["A B", "1A", "A-B", "A=$(id)"])
def test_a_name_that_is_no_variable_is_refused(name: str) -> None:
    with pytest.raises(WrongUse, match="variable"):
        entrypoint(a_submission(secrets=(name,)), SHARED_PATHS)


# --- the package ----------------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    code = tmp_path / "code"
    (code / "src").mkdir(parents=True)
    (code / "src" / "train.py").write_text("print(1)\n")
    (code / "run.sh").write_text("#!/bin/sh\n")
    (code / "run.sh").chmod(0o755)
    (code / "link").symlink_to("run.sh")
    (tmp_path / "admission.json").write_text('{"plan": "sha256:1"}')
    return tmp_path


def pack_tree(tree: Path) -> tuple[str, bytes]:
    return package(str(tree / "code"), str(tree / "admission.json"))


def test_a_package_is_named_by_its_content_alone(tree: Path) -> None:
    first = pack_tree(tree)
    (tree / "code" / "run.sh").touch()
    assert pack_tree(tree) == first
    (tree / "code" / "run.sh").chmod(0o644)
    assert pack_tree(tree)[0] != first[0]


def test_a_package_holds_the_code_and_the_admission(tree: Path) -> None:
    uri, data = pack_tree(tree)
    file = zipfile.ZipFile(BytesIO(data))
    assert sorted(file.namelist()) == [".herorun-admission.json", "link", "run.sh", "src/train.py"]
    assert file.read("link") == b"#!/bin/sh\n"
    assert uri.startswith("gcs://_ray_pkg_") and uri.endswith(".zip")


def test_what_cannot_be_packed_is_reported(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("herorun.schedulers._ray.package.MAX_PACKAGE", 10)
    with pytest.raises(WrongUse, match="shared"):
        pack_tree(tree)
    monkeypatch.undo()
    (tree / "code" / "folder").symlink_to("src")
    with pytest.raises(WrongUse, match=r"link.*folder"):
        pack_tree(tree)


# --- the log --------------------------------------------------------------------------------------

SETTING_UP = b"2026-11-21 22:19:45,061\tINFO job_manager.py:581 -- Runtime env is setting up.\n"


@pytest.mark.parametrize(
    "data",
    [
        SETTING_UP + b"Running entrypoint for job tiny-1: echo hi\none\ntwo\n",
        SETTING_UP + b"one\nRunning entrypoint for job tiny-1: echo hi\ntwo\n",
        SETTING_UP + b"oneRunning entrypoint for job tiny-1: echo hi\n\ntwo\n",
        b"one\ntwo\n",
    ],
)
def test_rays_own_lines_are_left_out_wherever_it_wrote_them(data: bytes) -> None:
    assert own_lines(data, a_record("succeeded"), 10) == "one\ntwo\n"
    assert own_lines(data, a_record("succeeded"), 1) == "two\n"
    assert own_lines(data, a_record("succeeded"), 0) == ""
