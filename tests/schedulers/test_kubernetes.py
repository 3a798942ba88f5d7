"""Kubernetes: the contract of every scheduler, on a real API server."""

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from herorun.schedulers import kubernetes
from ports.scheduler_suite import ReadsLogsOn, Rig, SchedulerSuite, SharesLooks
from schedulers.kubernetes_rig import adapter
from services.k8s import Space

pytestmark = pytest.mark.back_end


@pytest.fixture
def rig(space: Space, tmp_path: Path) -> Iterator[Rig]:
    code, state = tmp_path / "code", tmp_path / "state"
    code.mkdir()

    def connect() -> kubernetes.Kubernetes:
        """The cluster's Secret is what the environment says, as the suite sets it."""
        space.set_secret("tokens", training=os.environ.get("TRAINING_TOKEN"))
        return adapter(space, state)

    yield Rig(
        connect=connect,
        blind=lambda: adapter(
            space, state, kubeconfig=space.control.kubeconfig(server="https://127.0.0.1:9")
        ),
        traces=lambda: (path.read_bytes() for path in state.rglob("*") if path.is_file()),
        code=code,
        patience=60.0,  # a question is two calls of kubectl, on a machine that does much else
        resolution=timedelta(seconds=1),
        settle_time=lambda: kubernetes.now() - timedelta(seconds=5),
    )
    space.node.kill_all()


class TestKubernetes(SchedulerSuite, SharesLooks, ReadsLogsOn):
    """What every scheduler must do."""
