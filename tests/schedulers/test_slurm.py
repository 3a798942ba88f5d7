"""Slurm, on a real one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from herorun.core.ports import Place
from herorun.schedulers import slurm
from ports.scheduler_suite import Rig, SchedulerSuite
from services.slurm import Cluster


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
    )


class TestSlurm(SchedulerSuite):
    """What every scheduler must do."""
