"""The contract of jobs by id, of every scheduler that has them: on real ones, where there are."""

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from herorun import adapters
from herorun.core.evidence import JobState
from herorun.core.ports import ById, Place
from herorun.schedulers.external import ssh
from ports.by_id_suite import ByIdRig, ByIdSuite, script
from schedulers.kubernetes_rig import by_id
from services.boxes import Box
from services.k8s import Space, kubectl
from services.ray_service import Head
from services.relay import free_port
from services.slurm import Cluster

HERE = Path(__file__).parents[2]
STAND_IN = HERE / "services" / "iris_stand_in.py"
NEL_RECORDING = HERE / "recordings" / "nel" / "exec.v1.jsonl"


def connector(kind: str, state: Path, **options: object) -> Callable[[], ById]:
    place = Place("job", *[str(state)] * 3)
    return lambda: adapters.connect("schedulers.external", kind, options, place)


def a_file(folder: Path) -> Path:
    """No folder: nothing can be read or written below it."""
    path = folder / "file"
    path.touch()
    return path


def a_program(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(0o755)
    return path


class TestLocal(ByIdSuite):
    """Real processes, which leave no exit code."""

    @pytest.fixture
    def rig(self, tmp_path: Path) -> Iterator[ByIdRig]:
        processes: dict[str, subprocess.Popen[bytes]] = {}

        def start() -> str:
            with (tmp_path / f"log-{len(processes)}").open("wb") as log:
                argv = ["sh", "-c", script(tmp_path / f"go-{len(processes)}")]
                process = subprocess.Popen(argv, stdout=log, stderr=log)
            processes[f"{process.pid}"] = process
            return f"{process.pid}"

        def reap() -> None:
            """A process that has ended is there until its parent has asked for its exit code."""
            for process in processes.values():
                process.poll()

        def end(job: str) -> None:
            (tmp_path / f"go-{list(processes).index(job)}").touch()
            processes[job].wait(30)

        def connect() -> ById:
            reap()
            return connector("local", tmp_path / "state")()

        (tmp_path / "state").mkdir()
        yield ByIdRig(
            kind="local",
            connect=connect,
            blind=connector("local", a_file(tmp_path)),
            start=start,
            end=end,
            absent="4194000",
            malformed_ids=("0", "-1", "4711_3", "ray-run-1", "relative/path"),
            state=JobState.GONE,
        )
        for process in processes.values():
            process.kill()
            process.wait(30)


@pytest.mark.back_end
class TestSsh(ByIdSuite):
    """Real processes on a real box."""

    @pytest.fixture
    def rig(self, box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ByIdRig]:
        monkeypatch.setattr(ssh, "CONNECT", 3.0)
        folder = f"{box.home}/{tmp_path.name}-{uuid4().hex[:6]}"
        box.ssh(f"mkdir -p {folder}")
        jobs: list[str] = []
        login = {"host": box.name, "ssh_config": str(box.config)}

        def start() -> str:
            words = f"nohup sh -c {shlex.quote(script(f'{folder}/go-{len(jobs)}'))}"
            line = f"cd {folder}; {words} > log-{len(jobs)} 2>&1 & echo $!"
            jobs.append(box.ssh(line).stdout.strip())
            return jobs[-1]

        (tmp_path / "state").mkdir()
        yield ByIdRig(
            kind="ssh",
            connect=connector("ssh", tmp_path / "state", **login),
            blind=connector("ssh", tmp_path / "state", **login, port=free_port()),
            start=start,
            end=lambda job: box.ssh(f"touch {folder}/go-{jobs.index(job)}") and None,
            absent="4194000",
            malformed_ids=("0", "-1", "4711_3", "/folder"),
            state=JobState.GONE,
        )
        box.fix()
        box.ssh(f"kill -9 {' '.join(jobs)} 2>/dev/null; rm -rf {folder}", check=False)


def unreachable_slurm(folder: Path) -> str:
    conf = folder / "elsewhere.conf"
    conf.write_text(
        "ClusterName=x\nSlurmctldHost=nowhere(127.0.0.1)\nSlurmctldPort=1\nMessageTimeout=2\n"
    )
    return str(conf)


class SlurmJobs:
    """Jobs that somebody else has submitted."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster, self.folder, self.numbers = cluster, folder, list[str]()

    def start(self) -> str:
        name = len(self.numbers)
        job = a_program(self.folder / f"job-{name}", script(self.folder / f"go-{name}"))
        words = ["--parsable", f"--chdir={self.folder}", f"--job-name={uuid4().hex}"]
        self.numbers.append(self.cluster.ask("sbatch", *words, str(job)))
        return self.numbers[-1]

    def end(self, number: str) -> None:
        (self.folder / f"go-{self.numbers.index(number)}").touch()

    def kill(self) -> None:
        for number in self.numbers:
            self.cluster.ask("scancel", "-s", "KILL", "-f", number, check=False)


@pytest.fixture
def slurm_jobs(cluster: Cluster, tmp_path: Path) -> Iterator[SlurmJobs]:
    jobs = SlurmJobs(cluster, tmp_path)
    yield jobs
    jobs.kill()


@pytest.mark.back_end
class TestSlurm(ByIdSuite):
    """A real one."""

    @pytest.fixture
    def rig(self, slurm_jobs: SlurmJobs, tmp_path: Path) -> ByIdRig:
        return ByIdRig(
            kind="slurm",
            connect=connector("slurm", tmp_path, slurm_conf=slurm_jobs.cluster.conf),
            blind=connector("slurm", tmp_path, slurm_conf=unreachable_slurm(tmp_path)),
            start=slurm_jobs.start,
            end=slurm_jobs.end,
            absent="999999",
            malformed_ids=("-1", "4711_", "4711.batch", "abc", "/folder"),
            patience=120.0,
        )


@pytest.mark.back_end
class TestLauncher(ByIdSuite):
    """An output file of a job on a real Slurm, whose status is Slurm's while the file has none."""

    @pytest.fixture
    def rig(self, slurm_jobs: SlurmJobs, tmp_path: Path) -> ByIdRig:
        numbers: dict[str, str] = {}

        def start() -> str:
            output = tmp_path / f"output-{len(numbers)}"
            numbers[str(output)] = slurm_jobs.start()
            output.write_text(f"Submitted batch job {numbers[str(output)]}\none\ntwo\n")
            return str(output)

        return ByIdRig(
            kind="launcher",
            connect=connector("launcher", tmp_path, slurm_conf=slurm_jobs.cluster.conf),
            blind=connector("launcher", tmp_path, host="127.0.0.1", port=free_port()),
            start=start,
            end=lambda job: slurm_jobs.end(numbers[job]),
            absent=str(tmp_path / "none"),
            malformed_ids=("two\nlines",),
            patience=120.0,
        )


@pytest.mark.back_end
class TestRay(ByIdSuite):
    """A real head."""

    @pytest.fixture
    def rig(
        self, ray_head: Head, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> Iterator[ByIdRig]:
        names: list[str] = []

        def start() -> str:
            names.append(f"loose-{uuid4().hex[:8]}")
            entrypoint = f"sh -c {shlex.quote(script(tmp_path / names[-1]))}"
            ray_head.post("/api/jobs/", {"submission_id": names[-1], "entrypoint": entrypoint})
            return names[-1]

        yield ByIdRig(
            kind="ray",
            connect=connector("ray", tmp_path, cluster=ray_head.url),
            blind=connector("ray", tmp_path, cluster=f"http://127.0.0.1:{free_port()}"),
            start=start,
            end=lambda job: (tmp_path / job).touch(),
            absent="loose-none",
            malformed_ids=("/ada/loose", "-x", "a b"),
            patience=120.0,
        )
        for name in names:
            (tmp_path / name).touch()
            ray_head.post(f"/api/jobs/{name}/stop", {})


@pytest.mark.back_end
class TestKubernetes(ByIdSuite):
    """A real API server."""

    @pytest.fixture
    def rig(self, space: Space, tmp_path: Path) -> ByIdRig:
        names: list[str] = []
        blind = space.control.kubeconfig(server="https://127.0.0.1:9")

        def start() -> str:
            names.append(f"job.batch/loose-{len(names)}")
            name = names[-1].partition("/")[2]
            space.create_job(name, ["sh", "-c", script(tmp_path / name)], str(tmp_path))
            return names[-1]

        return ByIdRig(
            kind="kubernetes",
            connect=lambda: by_id(space),
            blind=connector(
                "kubernetes", tmp_path, cluster=f"{blind}#test/{space.name}", program=kubectl()
            ),
            start=start,
            end=lambda job: (tmp_path / job.partition("/")[2]).touch(),
            absent="job.batch/loose",
            malformed_ids=("pod/x", "-x", "job/A", "a b"),
        )


@pytest.mark.thorough
class TestIris(ByIdSuite):
    """The stand-in of each generation, which runs the commands for real."""

    @pytest.fixture(params=["A", "B", "C"])
    def rig(
        self, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> Iterator[ByIdRig]:
        folder, names = tmp_path / "cluster", list[str]()
        folder.mkdir()
        words = shlex.join([sys.executable, "-I", "-S", str(STAND_IN), request.param, str(folder)])
        flags = f'case "$2" in *elsewhere*) exit 1 ;; esac\nshift 2\nexec {words} "$@"\n'
        program = a_program(tmp_path / "bin" / "iris", flags)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")

        def start() -> str:
            names.append(f"loose-{len(names)}")
            argv = ["--user=ada", f"--job-name={names[-1]}"]
            command = ["sh", "-c", script(tmp_path / names[-1])]
            iris = [str(program), "--config", "c.yaml", "job", "run", *argv, "--", *command]
            subprocess.run(iris, check=True, capture_output=True, cwd=tmp_path)
            return f"/ada/{names[-1]}"

        yield ByIdRig(
            kind="iris",
            connect=connector("iris", tmp_path, config="c.yaml"),
            blind=connector("iris", tmp_path, config="elsewhere.yaml"),
            start=start,
            end=lambda job: (tmp_path / job.rpartition("/")[2]).touch(),
            absent="/ada/loose",
            malformed_ids=("loose-0", "/ada", "4711", "/ada/a b"),
        )
        for name in names:
            (tmp_path / name).touch()


DOCKER = """\
case "$1" in
  stop|kill) for folder in {0}/run-*; do
    test -e "$folder/logs/stage.exit" || echo "$(date -u +%FT%TZ) 143" > "$folder/logs/stage.exit"
  done ;;
esac
"""


@pytest.mark.back_end
class TestNel(ByIdSuite):
    """The real launcher about a list of its own; the folders of the jobs are written by the test,
    and its `docker` ends them.
    """

    @pytest.fixture
    def rig(
        self, nel_program: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> ByIdRig:
        docker = a_program(tmp_path / "bin" / "docker", DOCKER.format(tmp_path))
        monkeypatch.setenv("PATH", f"{docker.parent}:{os.environ['PATH']}")
        monkeypatch.setenv("HOME", str(tmp_path))
        recorded_job = json.loads(NEL_RECORDING.read_text().splitlines()[0])
        path, jobs = tmp_path / "exec.v1.jsonl", list[str]()

        def folder_of(job: str) -> Path:
            return tmp_path / f"run-{job}" / "logs"

        def start() -> str:
            jobs.append(uuid4().hex[:16])
            logs = folder_of(jobs[-1])
            logs.mkdir(parents=True)
            for stage in ("pre-start", "running"):
                (logs / f"stage.{stage}").write_text("2026-11-20T18:00:00Z\n")
            (logs / "client_stdout.log").write_text("one\ntwo\n")
            data = {**recorded_job["data"], "output_dir": str(logs.parent)}
            row = {
                **recorded_job,
                "invocation_id": jobs[-1],
                "job_id": f"{jobs[-1]}.0",
                "data": data,
            }
            with path.open("a") as file:
                file.write(json.dumps({**row, "timestamp": time.time()}) + "\n")
            return jobs[-1]

        (tmp_path / "broken").mkdir()
        return ByIdRig(
            kind="nel",
            connect=connector("nel", tmp_path, program=nel_program, exec_db=str(path)),
            blind=connector("nel", tmp_path, program=nel_program, exec_db=str(tmp_path / "broken")),
            start=start,
            end=lambda job: (
                (folder_of(job) / "stage.exit").write_text("2026-11-20T18:00:09Z 3\n") and None
            ),
            absent="deadbeef",
            malformed_ids=("4711x", "15BE12F8", "abc", "/folder"),
            patience=120.0,
        )
