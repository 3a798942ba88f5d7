"""The store of Azure, against Azurite: the contract suite, then Azure's own traps."""

import base64
import hashlib
import os
import subprocess
import sys
import uuid
from collections.abc import Callable
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

import herorun
from herorun.core.doctor_report import Fit
from herorun.core.errors import WrongUse
from herorun.core.extras import how_to_install
from herorun.core.ports import FileDigest, Place, Store
from herorun.core.redaction.scrub import scrub
from herorun.stores import _azure_client, _azure_requests, abfs
from ports.store_suite import StoreBench, StoreSuite
from services.fixtures import AZURE_ACCOUNT, azure_connection
from services.servers import Service

pytestmark = pytest.mark.back_end

SRC = str(Path(herorun.__file__).parents[1])
SHORT = 0.8  # seconds: what a test that hangs waits
CONNECTION = "AZURE_STORAGE_CONNECTION_STRING"
WRONG_KEY = base64.b64encode(b"another key").decode()


def connect(number: int = 0, **options: Any) -> Store:
    """A new client takes long to set up: they are kept, by what they were made of."""
    return _connect(number, os.environ.get(CONNECTION, ""), *options.items())


@cache
def _connect(number: int, made_of: str, *options: tuple[str, Any]) -> Store:
    return abfs.connect(abfs.Options(**dict(options)), Place("tiny", "state", "abfs://tiny", "."))


def client(server: Service) -> Any:
    from azure.storage.blob import BlobServiceClient

    return BlobServiceClient.from_connection_string(azure_connection(server))


def a_container(server: Service) -> str:
    name = f"c{uuid.uuid4().hex}"
    with client(server) as service:
        service.create_container(name)
    return name


def fill(server: Service, root: str, *names: str, **facts: Any) -> None:
    """Objects under a root, as another process writes them."""
    _, _, container, folder = root.split("/")
    with client(server) as service:
        for name in names:
            blob = service.get_blob_client(container, f"{folder}/{name}")
            blob.upload_blob(b"hi", **facts)


class Bench:
    def __init__(self, server: Service) -> None:
        self.server = server
        self.root = f"abfs://{a_container(server)}/tiny/out"
        self.turns = cycle(range(2))  # what one client wrote, another reads

    def connect(self) -> Store:
        return connect(next(self.turns))

    def cut_off(self, path: str) -> None:
        self.server.fault(url=path.removeprefix("abfs://").partition("/")[2], status=403)


class TestAzure(StoreSuite):
    has_empty_folders = False
    many = 40  # its pages have a test of their own

    @pytest.fixture
    def bench(self, azure: Service) -> StoreBench:
        return Bench(azure)


@pytest.fixture
def root(azure: Service) -> str:
    text = f"abfs://{a_container(azure)}/tiny"
    azure.requests()
    return text


# --- listings -------------------------------------------------------------------------------------


def test_a_listing_is_one_request_a_page_and_never_a_walk(
    azure: Service, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(azure, root, *(f"step-{n}/{name}" for n in range(7) for name in ("a", "b")))
    monkeypatch.setattr(_azure_requests, "PAGE", 5)
    azure.requests()
    assert len(connect().names(root)) == 7
    requests = azure.requests()
    assert len(requests) == 2 and all(
        "comp=list" in line and "delimiter=/" in line for line in requests
    )


def test_a_marker_that_another_process_wrote_is_seen_at_once(azure: Service, root: str) -> None:
    store = connect()
    store.create(f"{root}/step-1/data", b"")
    assert store.names(f"{root}/step-1") == ("data",)
    fill(azure, root, "step-1/metadata.json")
    assert store.names(f"{root}/step-1") == ("data", "metadata.json")


def test_the_object_that_marks_a_folder_is_no_file(azure: Service, root: str) -> None:
    """As a data lake has them: `step-1` next to `step-1/data`."""
    fill(azure, root, "step-1", "empty", metadata={"hdi_isfolder": "true"})
    fill(azure, root, "step-1/data")
    store = connect()
    assert store.names(root) == ("empty/", "step-1/")
    assert store.names(f"{root}/step-1") == ("data",)
    assert store.names(f"{root}/empty") == ()
    store.delete_folder(f"{root}/empty")
    assert store.names(root) == ("step-1/",)


@pytest.mark.parametrize("path", ["abfs://nobody-has-this", "abfs://nobody-has-this/tiny"])
def test_a_container_that_does_not_exist_is_neither_empty_nor_a_folder_to_come(
    azure: Service, path: str
) -> None:
    with pytest.raises(OSError, match="nobody-has-this is not") as error:
        connect().names(path)
    assert not isinstance(error.value, FileNotFoundError)


def test_an_empty_container_is_empty(azure: Service) -> None:
    assert connect().names(f"abfs://{a_container(azure)}/") == ()


@pytest.mark.parametrize(
    "path",
    [
        "/data/x",
        "abfs://",
        "abfs:///",
        "gs://bucket/x",
        "abfs://lab.dfs.core.windows.net/runs/x",
        "abfs://runs@evil.example.org/x",
        "abfs://runs@lab.dfs.core.windows.net.example.org/x",
    ],
)
def test_what_names_no_container_of_azure_is_wrong_use(path: str) -> None:
    with pytest.raises(WrongUse):
        connect().read(path)


def test_an_account_in_the_path_is_readable_and_another_than_the_logins_is_an_error(
    azure: Service,
) -> None:
    path = "abfs://runs@lab.dfs.core.windows.net/tiny"
    with pytest.raises(OSError, match=f"{AZURE_ACCOUNT}.* names lab"):
        connect().names(path)
    assert scrub(path) == path
    assert "t0k3n" not in scrub("abfs://t0k3n@example.org/tiny https://t0k3n@lab.blob.core.x/")


# --- writing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [503, -1])
@pytest.mark.parametrize("act", ["create", "swap"])
def test_a_write_whose_answer_was_lost_is_ours(
    azure: Service, root: str, act: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_azure_client, "BACKOFF", 0.1)
    store = connect(deadline=19.0)
    if act == "swap":
        store.create(f"{root}/lease", b"before")
    azure.fault(method="PUT", status=status, after=True, times=1)
    if act == "create":
        store.create(f"{root}/lease", b"mine")
    else:
        assert store.swap(f"{root}/lease", b"before", b"mine")
    assert store.read(f"{root}/lease") == b"mine"


def test_a_refusal_without_a_lost_answer_is_not_ours(azure: Service, root: str) -> None:
    connect().create(f"{root}/lease", b"same")
    with pytest.raises(FileExistsError):
        connect().create(f"{root}/lease", b"same")


def test_an_object_that_somebody_holds_a_lease_of_is_no_lost_race(
    azure: Service, root: str
) -> None:
    """Azure answers 412 for that too; an own lease would then look like another's."""
    store, path = connect(), f"{root}/lease"
    store.create(path, b"mine")
    with client(azure) as service:
        lease = service.get_blob_client(root.split("/")[2], "tiny/lease").acquire_lease()
        with pytest.raises(OSError, match="412 LeaseIdMissing"):
            store.swap(path, b"mine", b"new")
        lease.release()
    assert store.swap(path, b"mine", b"new")


def test_a_store_that_ignores_preconditions_fails_the_probe(azure: Service, root: str) -> None:
    azure.fault(method="PUT", status=201)
    with pytest.raises(OSError, match=r"cannot write .*ETag"):
        connect().probe(root)


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        ("write", {"method": "PUT"}),
        ("list", {"url": "comp=list"}),
        ("rename", {"url": "-renamed"}),
        ("delete", {"url": "-renamed", "method": "DELETE"}),
    ],
)
def test_a_probe_names_the_step_that_failed(
    azure: Service, root: str, step: str, fault: dict[str, str]
) -> None:
    azure.fault(status=403, **fault)
    with pytest.raises(OSError, match=f"cannot {step} under {root}/_herorun: .*403") as error:
        connect().probe(root)
    assert type(error.value) is OSError


# --- faults ---------------------------------------------------------------------------------------


def an_error(code: str) -> str:
    return f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>so it is</Message></Error>"


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"status": 401}, "401.*; the Azure credentials have expired"),
    ({"status": 403, "body": an_error("AuthenticationFailed")}, "403 AuthenticationFailed"),
    ({"status": 403, "body": an_error("AuthorizationPermissionMismatch")}, "403 Authorization"),
    ({"status": 409, "body": an_error("ContainerBeingDeleted")}, "409 ContainerBeingDeleted"),
    ({"status": 500, "body": an_error("InternalError")}, "500 InternalError"),
    ({"status": 503, "body": an_error("ServerBusy")}, "503 ServerBusy"),
    ({"status": 200, "body": "<html>sign in"}, "."),
    ({"status": 200, "body": "<html>sign in</html>"}, "no listing"),
    ({"status": 200, "body": ""}, "."),
]


@pytest.mark.parametrize(("fault", "reason"), FAULTS)
def test_a_fault_is_an_error_with_its_reason_and_never_an_empty_answer(
    azure: Service, root: str, fault: dict[str, Any], reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    store = connect(deadline=SHORT)
    azure.fault(**fault)
    with pytest.raises(OSError, match=rf"{root}.*: .*({reason})") as error:
        store.names(root)
    assert not isinstance(error.value, (FileNotFoundError, FileExistsError))
    assert capfd.readouterr().err == ""


MALFORMED_ANSWER = {"status": 200, "body": "<html>sign in</html>"}
REFUSAL = {"status": 403}
QUESTIONS = ("rules", "modified", "generation", "read", "entries")


@pytest.mark.parametrize("fault", [REFUSAL, MALFORMED_ANSWER])
@pytest.mark.parametrize("word", QUESTIONS)
def test_no_question_takes_a_fault_for_an_answer(
    azure: Service, root: str, word: str, fault: dict[str, Any]
) -> None:
    azure.fault(**fault)
    with pytest.raises(OSError, match=root) as error:
        getattr(connect(deadline=SHORT), word)(root)
    assert not isinstance(error.value, (FileNotFoundError, FileExistsError))


def test_not_found_is_not_found_everywhere(azure: Service, root: str) -> None:
    store = connect()
    azure.fault(status=404, body=an_error("ContainerNotFound"))
    looks: list[Callable[[str], object]] = [store.read, store.rules, store.modified]
    for look in looks:
        with pytest.raises(FileNotFoundError):
            look(root)


def test_a_server_that_hangs_is_a_time_out(azure: Service, root: str) -> None:
    azure.fault(sleep=2)
    with pytest.raises(TimeoutError, match=f"{root}: no answer"):
        connect(deadline=SHORT).names(root)


def test_a_wrong_key_is_neither_an_empty_place_nor_one_to_come(
    azure: Service, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect().create(f"{root}/step-1/metadata.json", b"{}")
    monkeypatch.setenv(CONNECTION, azure_connection(azure, WRONG_KEY))
    store = connect()
    looks: list[Callable[[str], object]] = [store.names, store.read, store.modified, store.rules]
    for look in looks:
        for path in (root, f"{root}/step-1", f"{root}/nothing", "abfs://nothing/tiny"):
            with pytest.raises(OSError, match="403 Auth") as error:
                look(path)
            assert not isinstance(error.value, FileNotFoundError)
            assert WRONG_KEY not in str(error.value)


def test_nobody_there_is_an_error_with_its_reason(
    azure: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody = azure_connection(azure).replace(azure.url, "http://127.0.0.1:1")
    monkeypatch.setenv(CONNECTION, nobody)
    with pytest.raises(OSError, match=r"abfs://bucket/x: .*Cannot connect"):
        connect(deadline=2 * SHORT).names("abfs://bucket/x")


def test_without_an_account_nothing_is_asked_and_the_login_is_broken(
    azure: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(CONNECTION)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", WRONG_KEY)
    (part,) = abfs.connect(abfs.Options(), Place("tiny", "s", "abfs://tiny", ".")).examine()
    assert part.status is Fit.FAILED and "set AZURE_STORAGE_ACCOUNT_NAME" in part.message
    with pytest.raises(OSError, match="AZURE_STORAGE_ACCOUNT_NAME"):
        connect().names("abfs://bucket/x")


def test_the_login_is_named_and_no_key_is_shown(azure: Service) -> None:
    (part,) = connect().examine()
    assert part.status is Fit.OK
    assert AZURE_ACCOUNT in part.message and "key" in part.message


def test_rules_by_age_are_told_to_nobody_here_and_are_not_called_absent(
    azure: Service, root: str
) -> None:
    (rule,) = connect().rules(root)
    assert (
        rule.unreported
        and rule.deletes_after is None
        and "Lifecycle management" in rule.description
    )
    assert connect().region(root) is None


# --- manners --------------------------------------------------------------------------------------

MISSING = """
import sys
sys.modules["adlfs"] = None
from herorun.core.errors import WrongUse
from herorun.core.ports import Place
from herorun.stores import abfs
store = abfs.connect(abfs.Options(), Place("tiny", "state", "abfs://tiny", "."))
assert not {"asyncio", "fsspec", "azure"} & set(sys.modules)
try:
    store.names("abfs://bucket/x")
except WrongUse as error:
    print(error)
"""
ENDS = """
from herorun.core.ports import Place
from herorun.stores import abfs
store = abfs.connect(abfs.Options(), Place("tiny", "state", "abfs://tiny", "."))
print(store.names("{root}"))
"""


def _run_script(script: str) -> tuple[str, str]:
    env = {**os.environ, "PYTHONPATH": SRC}
    process = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=300
    )
    return process.stdout, process.stderr


def test_without_adlfs_it_says_what_to_install() -> None:
    words = f"Paths of abfs:// need the package adlfs: {how_to_install('azure')}.\n"
    assert _run_script(MISSING) == (words, "")


def test_a_process_ends_without_a_word_about_its_connections(azure: Service, root: str) -> None:
    connect().create(f"{root}/a", b"")
    assert _run_script(ENDS.format(root=root)) == ("('a',)\n", "")


# --- checksums ------------------------------------------------------------------------------------


def test_an_object_tells_its_md5_and_its_etag(azure: Service, root: str) -> None:
    store = connect()
    store.create(f"{root}/a", b"hi")
    (entry,) = store.entries(root)
    md5 = base64.b64encode(hashlib.md5(b"hi").digest()).decode()
    assert entry.checksum.startswith(f"md5:{md5} etag:")
    (digests,) = store.digests(root, ["a"], {})
    assert isinstance(digests, FileDigest) and digests.checksum == entry.checksum


def test_an_object_that_is_too_large_to_be_read_whole_is_refused(
    azure: Service, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_azure_requests, "MAX_BYTES", 1000)
    store = connect()
    for name, size in (("large", 3000), ("well", 1000), ("empty", 0)):
        store.create(f"{root}/{name}", b"x" * size)
    with pytest.raises(OSError, match="larger than"):
        store.read(f"{root}/large")
    assert store.end(f"{root}/large", 10) == b"x" * 10
    assert len(store.read(f"{root}/well")) == 1000
    assert store.read(f"{root}/empty") == b""
