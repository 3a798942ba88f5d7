"""What comes of a job on another machine: its results are read there, over the same road as its
state.
"""

import getpass
import json
import time
from pathlib import Path

import pytest

from herorun.core.evidence import JobState
from herorun.core.ports import Found
from herorun.operations.jobs.poll import result_of
from herorun.schedulers._nel.options import Options as NelOptions
from herorun.schedulers.external import slurm
from herorun.schedulers.external.nel import NelById
from schedulers.external.test_real_nel import RESULTS
from services.boxes import Box
from services.slurm import Cluster
from stories import eventually

pytestmark = pytest.mark.back_end

WORDS = (
    "mkdir -p logs artifacts; echo 'step 7/20' > logs/client.log; mv results.yml artifacts; exit 0"
)


@pytest.fixture
def number(cluster: Cluster, tmp_path: Path) -> str:
    """A job that has ended, and has left what nel's jobs leave."""
    (tmp_path / "results.yml").write_text(RESULTS)
    (tmp_path / "job.sh").write_text(f"#!/bin/sh\n{WORDS}\n")
    answer = cluster.ask("sbatch", "--parsable", f"--chdir={tmp_path}", str(tmp_path / "job.sh"))
    words = "sacct", "-X", "-n", "-P", "-j", answer, "--format=State"
    eventually(lambda: cluster.ask(*words, check=False) == "COMPLETED", within=120)
    eventually(lambda: cluster.ask("squeue", "-h", "-j", answer, check=False) == "", within=120)
    return answer


def test_slurms_exit_code_and_elapsed_time_come_through_the_login_node(
    number: str, cluster: Cluster, login_node: Box
) -> None:
    road = {
        "host": login_node.name,
        "user": getpass.getuser(),
        "ssh_config": str(login_node.config),
    }
    adapter = slurm.SlurmById(slurm.Options(**road, slurm_conf=cluster.conf))
    job = adapter.find_job(number)
    assert isinstance(job, Found) and job.job.state is JobState.SUCCEEDED
    assert result_of(adapter, job.job).startswith("COMPLETED, exit code 0:0, elapsed 00:00:")


def test_nels_scores_come_through_the_login_node(
    number: str, cluster: Cluster, login_node: Box, tmp_path: Path
) -> None:
    """Of two tasks, one left no results there."""
    data = {"slurm_job_id": number, "hostname": "elsewhere"}
    fields = {
        "invocation_id": "15be12f8",
        "executor": "slurm",
        "timestamp": time.time(),
        "config": {},
    }
    rows = [
        {**fields, "job_id": f"15be12f8.{n}", "data": {**data, "remote_rundir_path": str(folder)}}
        for n, folder in enumerate((tmp_path, tmp_path / "none"))
    ]
    (tmp_path / "exec.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = [
        {"invocation": "15be12f8", "job_id": row["job_id"], "status": "success"} for row in rows
    ]
    (tmp_path / "nel").write_text(f"#!/bin/sh\necho '{json.dumps(text)}'\n")
    (tmp_path / "nel").chmod(0o755)
    options = NelOptions(
        host=login_node.name,
        user=getpass.getuser(),
        ssh_config=str(login_node.config),
        slurm_conf=cluster.conf,
        program=[str(tmp_path / "nel")],
        exec_db=str(tmp_path / "exec.jsonl"),
    )
    adapter = NelById(options, tmp_path / "kept")
    job = adapter.find_job("15be12f8")
    assert isinstance(job, Found) and job.job.state is JobState.SUCCEEDED, job
    assert result_of(adapter, job.job) == "ifeval: 42.3%"
