"""nel's Slurm executor, as it is followed from a laptop: a real Slurm behind a real login node, and
nel's recorded words.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from herorun.core.evidence import Job, JobState
from herorun.core.ports import Found
from herorun.schedulers import nel
from herorun.schedulers._nel import slurm as nel_slurm
from herorun.schedulers._transport import SshLogin, SshTransport
from ports.scheduler_suite import long_ago
from schedulers.test_nel_answers import RECORDINGS, adapter
from services.boxes import Box
from services.slurm import Cluster
from stories import eventually

pytestmark = pytest.mark.back_end


@pytest.fixture
def number(cluster: Cluster, tmp_path: Path) -> Iterator[str]:
    """A job that really runs, as nel would have submitted it."""
    (tmp_path / "run" / "logs").mkdir(parents=True)
    script = tmp_path / "run" / "run.sub"
    script.write_text("#!/bin/sh\necho evaluating\nsleep 300\n")
    log = f"--output={tmp_path}/run/logs/client.log"
    answer = cluster.ask("sbatch", "--parsable", f"--chdir={tmp_path}/run", log, str(script))
    yield answer
    cluster.ask("scancel", answer, check=False)


@pytest.fixture
def scheduler(
    number: str, cluster: Cluster, login_node: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[nel.Nel]:
    """nel says "failed", as it does where its own ssh fails. A link that is cut is given up after
    two seconds.
    """
    row = json.loads((RECORDINGS / "exec.v1.jsonl").read_text().splitlines()[0])
    there = {
        "slurm_job_id": number,
        "remote_rundir_path": str(tmp_path / "run"),
        "hostname": "elsewhere",
    }
    (tmp_path / "exec.jsonl").write_text(
        json.dumps({**row, "executor": "slurm", "data": there}) + "\n"
    )
    answer = [
        {
            "invocation": row["invocation_id"],
            "job_id": row["job_id"],
            "status": "failed",
            "data": {},
        }
    ]
    road = {
        "host": login_node.name,
        "ssh_config": str(login_node.config),
        "slurm_conf": cluster.conf,
    }
    monkeypatch.setattr(
        nel_slurm, "transport_to", lambda result: SshTransport(_login(result), connect=2)
    )
    yield adapter(tmp_path, f"echo '{json.dumps(answer)}'", timeout="10s", **road)
    login_node.fix()


def _login(values: nel.Options) -> SshLogin:
    return SshLogin(**values.model_dump(include=set(SshLogin.model_fields)))


def job_of(scheduler: nel.Nel) -> Job:
    search = scheduler.find("tiny-1", long_ago())
    assert isinstance(search, Found), search
    return search.job


def test_slurms_own_word_counts_through_the_login_node_and_a_cut_link_is_unknown(
    scheduler: nel.Nel, number: str, cluster: Cluster, login_node: Box
) -> None:
    eventually(lambda: job_of(scheduler).state is JobState.RUNNING, within=120)
    assert job_of(scheduler).raw == "failed; Slurm RUNNING"
    eventually(lambda: scheduler.tail("tiny-1", 5) == "evaluating\n", within=120)
    assert [job.instance for job in scheduler.live_jobs("tiny")] == ["tiny-1"]

    login_node.cut()
    job = job_of(scheduler)
    assert job.state is JobState.UNKNOWN and login_node.name in job.reason
    login_node.fix()

    cluster.ask("scancel", number)
    eventually(lambda: job_of(scheduler).state.is_final, within=120)
    job = job_of(scheduler)
    assert job.state is JobState.CANCELLED and job.raw.startswith("failed; Slurm CANCELLED by ")
