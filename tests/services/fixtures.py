"""The loopback servers as fixtures: one of each a session, started when a test first asks for
it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import NoReturn
from uuid import uuid4

import pytest

from services import boxes
from services.mlflow_service import MlflowExperiment, MlflowService, mlflow_installed, shared_mlflow
from services.nel import INSTALLED_PATH, nel_running
from services.ray_service import Head, ray_installed, shared_head
from services.servers import HERE, PYTHON, REQUIRE, Service, is_installed, running

# as Microsoft publishes them for everybody's Azurite
AZURE_ACCOUNT = "devstoreaccount1"
AZURE_KEY = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)
AZURITE = HERE.parents[1] / ".node-services" / "node_modules" / "azurite"
ON_CLUSTER = {
    "TRAINING_TOKEN": "correct-horse-battery-9f2c"
}  # what jobs on the shared Ray find in their environment


def _serve(name: str) -> Iterator[Service]:
    if not is_installed():
        skip_or_fail(f"{name} needs {PYTHON}: `make services` installs it")
    with running(name) as service:
        yield service


def skip_or_fail(why: str) -> NoReturn:
    """Leave a test out by name, unless whoever runs it says that nothing may be missing."""
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
def azure_server() -> Iterator[Service]:
    if which("node") is None or not AZURITE.exists():
        skip_or_fail(f"azure_server needs Node 20 or newer and {AZURITE}: `make services`")
    yield from _serve("azure_server")


@pytest.fixture(scope="session")
def nel_program() -> Iterator[tuple[str, ...]]:
    """The words that start nel."""
    if not INSTALLED_PATH.exists():
        skip_or_fail(f"there is no {INSTALLED_PATH}: `make services-nel` installs it")
    with nel_running() as program:
        yield program


@pytest.fixture(scope="session")
def needs_ray() -> None:
    if not ray_installed():
        skip_or_fail(f"Ray is not in {PYTHON.parents[1]}: `make services-ray` installs it")


@pytest.fixture(scope="session")
def ray_head(needs_ray: None) -> Iterator[Head]:
    """One for all workers of this session."""
    with shared_head(
        os.environ.get("PYTEST_XDIST_TESTRUNUID", f"alone-{os.getpid()}"), ON_CLUSTER
    ) as head:
        yield head


@pytest.fixture(scope="session")
def mlflow_server() -> Iterator[MlflowService]:
    """One for all workers of this session."""
    if not mlflow_installed():
        skip_or_fail(f"MLflow is not in {PYTHON.parents[1]}: `make services` installs it")
    with shared_mlflow(os.environ.get("PYTEST_XDIST_TESTRUNUID", f"alone-{os.getpid()}")) as server:
        yield server


@pytest.fixture
def mlflow(
    mlflow_server: MlflowService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> MlflowExperiment:
    """An experiment of this test's own, which is not there yet; nobody's login is in sight."""
    for name in ("URI", "TOKEN", "USERNAME", "PASSWORD"):
        monkeypatch.delenv(f"MLFLOW_TRACKING_{name}", raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    return MlflowExperiment(mlflow_server, f"hero/{uuid4().hex[:12]}")


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


@pytest.fixture
def azure(azure_server: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """The same for Azure, with Azurite's own account and its key."""
    for name in [name for name in os.environ if name.startswith("AZURE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", azure_connection(azure_server))
    azure_server.requests()
    yield azure_server
    azure_server.heal()


def azure_connection(server: Service, key: str = AZURE_KEY) -> str:
    return (
        f"DefaultEndpointsProtocol=http;AccountName={AZURE_ACCOUNT};AccountKey={key};"
        f"BlobEndpoint={server.url}/{AZURE_ACCOUNT};"
    )


def _boxes_or_skip(own: bool = False) -> None:
    lacking = boxes.missing()
    why = f"boxes need {', '.join(lacking)}: `.ci/install` installs them" if lacking else ""
    if own and not why and not boxes.may_own():
        why = (
            "this box needs a network, a disk and processes of its own: root, and ip, nft, "
            "nsenter and unshare"
        )
    if why:
        skip_or_fail(why)


@contextmanager
def _a_box(folder: Path, own: bool = False, disk: str = boxes.SMALL) -> Iterator[boxes.Box]:
    _boxes_or_skip(own)
    box = boxes.Box(folder, disk)
    try:
        yield box
    finally:
        box.end()


@pytest.fixture(scope="session")
def one_box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[boxes.Box]:
    with _a_box(tmp_path_factory.mktemp("box") / "box", disk=boxes.LARGE) as box:
        yield box


@pytest.fixture
def box(one_box: boxes.Box) -> Iterator[boxes.Box]:
    """A box of this worker, its link whole before and after."""
    yield one_box
    one_box.fix()


@pytest.fixture(scope="module")
def login_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[boxes.Box]:
    """A real ssh server on this machine, from which all is seen that is seen here, behind a link
    that can be cut.
    """
    _boxes_or_skip()
    box = boxes.Box(tmp_path_factory.mktemp("login") / "node", own=False)
    try:
        yield box
    finally:
        box.end()


@pytest.fixture(scope="module")
def own_box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[boxes.Box]:
    """A box of this file alone, with a disk, a memory limit and a power switch."""
    with _a_box(tmp_path_factory.mktemp("box") / "box", own=True) as box:
        yield box
