"""The whole story of the demo, on a real Slurm."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from services.slurm import Cluster

pytestmark = pytest.mark.back_end


def test_the_demo_runs_on_slurm_from_contract_to_seal(cluster: Cluster, tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    argv = [
        sys.executable,
        "-m",
        "herorun",
        "demo",
        "--scheduler",
        "slurm",
        "--json",
        "--dir",
        str(tmp_path / "demo"),
    ]
    env = {**os.environ, "SLURM_CONF": cluster.conf}
    process = subprocess.run(
        argv, env=env, capture_output=True, text=True, timeout=240, check=False
    )
    assert process.returncode == 0, process.stderr
    document = json.loads(process.stdout)
    assert (
        document["instances"] == ["tiny-lm-1", "tiny-lm-2"]
        and document["tag"] == "herorun/tiny-lm/seal-1"
    )
    states = cluster.ask(
        "sacct", "-X", "-n", "-P", "--name=tiny-lm-1,tiny-lm-2", "--format=JobName,State"
    )
    assert states.split() == ["tiny-lm-1|FAILED", "tiny-lm-2|COMPLETED"]
