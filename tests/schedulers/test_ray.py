"""The Ray scheduler against a real head, and the states that only a real one produces."""

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from herorun.core.ports import Place
from herorun.schedulers import ray
from ports.scheduler_suite import Rig, SchedulerSuite
from services.ray_service import Head


def an_adapter(address: str, state: Path, **options: object) -> ray.Ray:
    told = {"address": address, "code": "shared", "settle": "200ms", "grace": "1s", **options}
    return ray.connect(ray.Options.model_validate(told), Place("tiny", str(state), "/out", "/repo"))


def just_now() -> datetime:
    """After the start of a head that has answered."""
    return datetime.now(UTC) - timedelta(milliseconds=400)


@dataclass(frozen=True)
class RayRig(Rig):
    state: Path = Path()
    address: str = ""
    prefix: str = ""

    def adapter(self, **options: object) -> ray.Ray:
        return an_adapter(self.address, self.state, prefix=self.prefix, **options)


@pytest.fixture
def silent() -> Iterator[str]:
    """A server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def rig(ray_head: Head, tmp_path: Path, silent: str) -> Iterator[RayRig]:
    (tmp_path / "code").mkdir()
    state, prefix = tmp_path / "state", f"{uuid4().hex[:8]}-"
    mine = {"prefix": prefix, "secrets": "on-cluster"}

    def traces() -> Iterator[bytes]:
        yield from (path.read_bytes() for path in state.rglob("*") if path.is_file())
        yield json.dumps(ray_head.get("/api/jobs/")).encode()

    yield RayRig(
        connect=lambda: an_adapter(ray_head.url, state, **mine),
        blind=lambda: an_adapter(silent, state, timeout="300ms", **mine),
        traces=traces,
        code=tmp_path / "code",
        patience=60.0,
        settled=just_now,
        state=state,
        address=ray_head.url,
        prefix=prefix,
    )
    for job in an_adapter(ray_head.url, state, **mine).live("tiny"):
        an_adapter(ray_head.url, state, **mine).stop(job.instance, "the test")


class TestRay(SchedulerSuite):
    def test_a_missing_secret_is_named_before_anything_starts(self, rig: RayRig, monkeypatch) -> None:
        """No secret travels to a cluster, so what nobody vouches for is missing, set here or not."""
        super().test_a_missing_secret_is_named_before_anything_starts(
            replace(rig, connect=rig.adapter), monkeypatch
        )
