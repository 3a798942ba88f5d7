"""nel's own Slurm executor: real invocations, over ssh to a login node, on a real Slurm whose
`srun` knows no containers.

That one is a stand-in for the plug-in that brings containers to Slurm: it starts a real step, which
waits to be told how to end.
"""

import getpass
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from builders import an_instance
from herorun.core.evidence import Job, JobState
from herorun.core.ports import Absent, Found, Place, Submission
from herorun.operations.report.logs import read_log
from herorun.schedulers import nel
from ports.scheduler_suite import SECRET, long_ago
from services import boxes
from services.fixtures import skip_or_fail
from services.nel import EVALUATION_CONFIG
from services.slurm import Cluster
from stories import eventually

pytestmark = pytest.mark.back_end

PATIENCE = 120.0
LEASE_POLL_INTERVAL = 5.0  # seconds: what only the accounting or nel's own files say
EVALUATION = """\
defaults:
  - execution: slurm/default
  - deployment: none
  - _self_
execution:
  hostname: {host}
  username: {user}
  account: lab
  partition: main
  walltime: 00:10:00
  gres: null
  sbatch_extra_flags:
    exclusive: false
env_vars:
  TRAINING_TOKEN: host:TRAINING_TOKEN
"""
SRUN = """\
#!/bin/bash
while [ "$1" != bash ]; do [ "$1" = --output ] && out=$2; shift; done
name=$(echo "$out" | grep -o 'tiny-[0-9]*' | head -n 1)
exec {srun} --overlap --nodes 1 --ntasks 1 --output "$out" sh -c \\
  "echo evaluating $name; until [ -s $0.$name ]; do sleep 0.1; done; exit \\$(cat $0.$name)"
"""


@dataclass
class Login:
    """What nel, which runs here, makes of a login node that it goes to by ssh."""

    folder: Path
    cluster: Cluster
    adapter: nel.Nel

    def submit(self, instance: str) -> Job:
        submission = Submission(instance, ("eval.yaml",), ".", {}, ("TRAINING_TOKEN",))
        return self.adapter.submit(submission, str(self.folder / "code"), "/admission.json")

    def now(self, instance: str) -> Job:
        search = self.adapter.find(instance, long_ago())
        assert isinstance(search, Found), search
        return search.job

    def until(self, instance: str, true: Callable[[Job], object]) -> Job:
        """Each look starts nel, which takes seconds of CPU: another follows when Slurm says
        something else than before the last one, or after a while.
        """
        end = time.monotonic() + PATIENCE
        before = self._states()
        while not true(job := self.now(instance)):
            assert time.monotonic() < end, job
            patience = time.monotonic() + LEASE_POLL_INTERVAL
            while self._states() == before and time.monotonic() < patience:
                time.sleep(0.2)
            before = self._states()
        return job

    def _states(self) -> str:
        return self.cluster.ask("squeue", "-h", "-t", "all", "-O", "JobID:30,State:30")

    def numbers(self, instance: str) -> list[str]:
        """Of Slurm's jobs that have begun: nel starts one again under a new one."""
        return [
            word
            for each in self._of(instance, ".slurm_job_id.list")
            for word in each.read_text().split()
        ]

    def has_logged(self, instance: str) -> bool:
        return any(
            "evaluating" in path.read_text() for path in self._of(instance, "logs/client-*.log")
        )

    def on_slurm(self, instance: str) -> list[str]:
        """Slurm's live jobs that write below its folder."""
        answer = self.cluster.ask("squeue", "-h", "-O", "JobID:30,STDOUT:400")
        return [line.split()[0] for line in answer.splitlines() if f"/out/{instance}/" in line]

    def _of(self, instance: str, pattern: str) -> list[Path]:
        return list((self.folder / "out" / instance).glob(f"*/*/{pattern}"))

    def tell(self, instance: str, code: int) -> None:
        (self.folder / "there" / f"srun.{instance}").write_text(f"{code}\n")


@pytest.fixture(scope="module")
def login(
    cluster: Cluster, nel_program: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Login]:
    lacking = [*boxes.missing(), *([] if Path("/usr/bin/rsync").exists() else ["rsync"])]
    if lacking:
        skip_or_fail(f"{' and '.join(lacking)} not there: .ci/install brings it")
    folder = tmp_path_factory.mktemp("nel")
    for name in ("here", "there", "code", "home"):
        (folder / name).mkdir()
    env = {"SLURM_CONF": cluster.conf, "PATH": f"{folder}/there:{os.environ['PATH']}"}
    node = boxes.Box(folder / "node", own=False, env=env)
    program(folder / "there" / "srun", SRUN.format(srun="/usr/bin/srun"))
    program(folder / "here" / "ssh", f'#!/bin/sh\nexec /usr/bin/ssh -F {node.config} "$@"\n')
    text = EVALUATION.format(host=node.name, user=getpass.getuser()) + EVALUATION_CONFIG
    (folder / "code" / "eval.yaml").write_text(text)
    options = nel.Options(
        program=nel_program,
        folder=f"{folder}/out",
        exec_db=f"{folder}/db/exec.v1.jsonl",
        ssh_config=str(node.config),
        slurm_conf=cluster.conf,
        settle="100ms",
        timeout="2m",
    )
    adapter = nel.connect(
        options, Place("tiny", str(folder / "state"), f"{folder}/results", "/repository")
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder / 'here'}{os.pathsep}{os.environ['PATH']}")
        patch.setenv("HOME", str(folder / "home"))
        patch.setenv("TRAINING_TOKEN", SECRET)
        try:
            yield Login(folder, cluster, adapter)
        finally:
            for name in ("tiny-1", "tiny-2", "tiny-3", "tiny-4"):
                (folder / "there" / f"srun.{name}").write_text("1\n")
            node.end()


def program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def running(job: Job) -> bool:
    return job.state is JobState.RUNNING


def running_for_both(job: Job) -> bool:
    """nel asks Slurm a moment before it is asked again, and a job may begin in between."""
    return running(job) and job.raw == "running; Slurm RUNNING"


def has_ended(job: Job) -> bool:
    return job.state.is_final


def test_nel_submits_over_ssh_and_its_job_is_followed_on_slurm_and_stopped(login: Login) -> None:
    assert login.adapter.find("tiny-1", long_ago()) == Absent()
    submission = login.submit("tiny-1")
    login.until("tiny-1", running_for_both)
    assert login.submit("tiny-1").id == submission.id
    assert [job.instance for job in login.adapter.live_jobs("tiny")] == ["tiny-1"]
    eventually(lambda: login.has_logged("tiny-1"), within=120)
    assert login.adapter.tail("tiny-1", 5) == "evaluating tiny-1\n"
    assert "".join(read_log(login.adapter, an_instance(1), 5)) == "evaluating tiny-1\n"
    login.adapter.stop("tiny-1", "ada@box")
    stopped_job = login.until("tiny-1", has_ended)
    assert (stopped_job.state, stopped_job.stopped_by, stopped_job.has_crashed) == (
        JobState.CANCELLED,
        "ada@box",
        False,
    )
    eventually(lambda: login.on_slurm("tiny-1") == [], within=120)


def test_an_end_keeps_its_exit_code_and_the_secret_stays_private(login: Login) -> None:
    for instance, code in (("tiny-2", 5), ("tiny-3", 0)):
        login.tell(instance, code)
        login.submit(instance)
    failed_job, success = login.until("tiny-2", has_ended), login.until("tiny-3", has_ended)
    assert (failed_job.state, failed_job.exit_code, failed_job.raw) == (
        JobState.FAILED,
        5,
        "failed; Slurm FAILED",
    )
    assert (success.state, success.exit_code, success.raw) == (
        JobState.SUCCEEDED,
        0,
        "success; Slurm COMPLETED",
    )
    texts = [
        path
        for path in login.folder.rglob("*")
        if path.is_file() and SECRET.encode() in path.read_bytes()
    ]
    assert {path.name for path in texts} == {".secrets.env"}
    assert {path.stat().st_mode & 0o077 for path in texts} == {0}


def test_what_nel_starts_again_after_a_time_limit_lives_and_a_stop_ends_that_too(
    login: Login,
) -> None:
    """nel itself would cancel the first number alone, which has ended."""
    login.submit("tiny-4")
    first = login.until("tiny-4", running)
    (number,) = login.numbers("tiny-4")
    login.cluster.ask("scontrol", "update", f"JobId={number}", "EndTime=now+1")
    eventually(lambda: len(login.numbers("tiny-4")) == 2, within=PATIENCE)
    assert login.until("tiny-4", running_for_both).id == first.id
    login.adapter.stop("tiny-4", "ada@box")
    stopped_job = login.until("tiny-4", has_ended)
    assert (stopped_job.state, stopped_job.stopped_by) == (JobState.CANCELLED, "ada@box")
    eventually(lambda: login.on_slurm("tiny-4") == [], within=120)
