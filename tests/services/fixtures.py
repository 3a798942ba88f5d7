"""The loopback servers as fixtures: one of each a session, started when a test first asks for it."""

import os
from collections.abc import Iterator

import pytest

from services.ray_service import Head, ray_installed, shared_head
from services.servers import PYTHON, REQUIRE, Service, installed, running

ON_CLUSTER = {
    "TRAINING_TOKEN": "correct-horse-battery-9f2c"
}  # what jobs on the shared Ray find in their environment


def _serve(name: str) -> Iterator[Service]:
    if not installed():
        _missing(f"{name} needs {PYTHON}: `make services` installs it")
    with running(name) as service:
        yield service


def _missing(why: str) -> None:
    if os.environ.get(REQUIRE) == "1":
        pytest.fail(why)
    pytest.skip(why)


@pytest.fixture(scope="session")
def gcs_server() -> Iterator[Service]:
    yield from _serve("gcs_server")


@pytest.fixture(scope="session")
def s3_server() -> Iterator[Service]:
    yield from _serve("s3_server")


@pytest.fixture(scope="session")
def needs_ray() -> None:
    if not ray_installed():
        _missing(f"Ray is not in {PYTHON.parents[1]}: `make services-ray` installs it")


@pytest.fixture(scope="session")
def ray_head(needs_ray: None) -> Iterator[Head]:
    """One for all workers of this session."""
    with shared_head(os.environ.get("PYTEST_XDIST_TESTRUNUID", f"alone-{os.getpid()}"), ON_CLUSTER) as head:
        yield head


@pytest.fixture
def gcs(gcs_server: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """The server without faults and with an empty log; the store finds it as Google's tools do."""
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", gcs_server.url)
    gcs_server.requests()
    yield gcs_server
    gcs_server.heal()


@pytest.fixture
def s3(s3_server: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """The same for S3, with credentials that it takes and no others."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server.url)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    s3_server.requests()
    yield s3_server
    s3_server.heal()
