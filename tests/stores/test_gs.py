"""The gs store, against a loopback server: the contract suite, then Cloud Storage's own traps."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import herorun
from herorun.core.doctor_report import Fit
from herorun.core.errors import WrongUse
from herorun.core.ports import FileDigest, LifecycleRule, Place, Store
from herorun.stores import gs
from herorun.stores._gs_client import _client
from ports.store_suite import StoreBench, StoreSuite
from services.servers import Service
from wording import mentions

SRC = str(Path(herorun.__file__).parents[1])
SHORT = 0.6  # seconds: what a test that hangs waits


@pytest.fixture(scope="module", autouse=True)
def client_is_imported() -> None:
    """That takes longer than the short deadline, and each worker collects this file."""
    _client()


def connect(**options: Any) -> Store:
    return gs.connect(gs.Options(**options), Place("tiny", "state", "gs://tiny", "."))


def a_bucket(server: Service, **facts: Any) -> str:
    name = f"b{uuid.uuid4().hex}"
    server.tell("bucket", name=name, **{"location": "US-CENTRAL1", **facts})
    return name


class Bench:
    def __init__(self, server: Service) -> None:
        self.server = server
        self.root = f"gs://{a_bucket(server)}/tiny/out"

    def connect(self) -> Store:
        return connect()

    def cut_off(self, path: str) -> None:
        self.server.fault(url=path.removeprefix("gs://").partition("/")[2], status=403)


class TestGs(StoreSuite):
    has_empty_folders = False
    many = 40  # its pages have a test of their own

    @pytest.fixture
    def bench(self, gcs: Service) -> StoreBench:
        return Bench(gcs)


@pytest.fixture
def root(gcs: Service) -> str:
    return f"gs://{a_bucket(gcs)}/tiny"


# --- listings -------------------------------------------------------------------------------------


def test_a_listing_is_one_request_a_page_and_never_a_walk(gcs: Service, root: str) -> None:
    bucket = root.split("/")[2]
    files = {f"tiny/step-{n}/{name}": "" for n in range(1500) for name in ("a", "b")}
    gcs.tell("fill", bucket=bucket, files=files)
    gcs.requests()
    assert len(connect().names(root)) == 1500
    assert [line.partition("?")[0] for line in gcs.requests()] == [
        f"GET /storage/v1/b/{bucket}/o"
    ] * 2


def test_a_marker_that_another_process_wrote_is_seen_at_once(gcs: Service, root: str) -> None:
    store = connect()
    store.create(f"{root}/step-1/data", b"")
    assert store.names(f"{root}/step-1") == ("data",)
    gcs.tell("fill", bucket=root.split("/")[2], files={"tiny/step-1/metadata.json": "{}"})
    assert store.names(f"{root}/step-1") == ("data", "metadata.json")


def test_a_folders_own_marker_is_no_file_and_makes_it_exist(gcs: Service, root: str) -> None:
    gcs.tell("fill", bucket=root.split("/")[2], files={"tiny/": "", "tiny/step-1/": ""})
    assert connect().names(root) == ("step-1/",)
    assert connect().names(f"{root}/step-1") == ()


@pytest.mark.parametrize("path", ["gs://nobody-has-this", "gs://nobody-has-this/tiny"])
def test_a_bucket_that_does_not_exist_is_neither_empty_nor_a_folder_to_come(
    gcs: Service, path: str
) -> None:
    with pytest.raises(OSError, match=f"{path}: gs://nobody-has-this .*bucket") as error:
        connect().names(path)
    assert not isinstance(error.value, FileNotFoundError)


def test_an_empty_bucket_is_empty(gcs: Service) -> None:
    assert connect().names(f"gs://{a_bucket(gcs)}/") == ()


# --- paths ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["{0}//a", "{0}/a/", "{0}//a//"])
def test_slashes_make_no_other_place(gcs: Service, root: str, form: str) -> None:
    connect().create(f"{root}/a", b"1")
    assert connect().read(form.format(root)) == b"1"


def test_a_generation_in_the_path_is_that_one_or_none(gcs: Service, root: str) -> None:
    store = connect()
    store.create(f"{root}/a", b"1")
    pinned_path = f"{root}/a#{store.generation(f'{root}/a')}"
    assert store.read(pinned_path) == b"1"
    assert store.swap(f"{root}/a", b"1", b"2")
    for look in (store.read, store.generation):
        with pytest.raises(FileNotFoundError):
            look(pinned_path)
    with pytest.raises(WrongUse, match=r"cannot.*written"):
        store.swap(pinned_path, b"1", b"3")


@pytest.mark.parametrize("path", ["/data/x", "gs://", "gs:///", "s3://bucket/x", "bucket/x"])
def test_what_names_no_bucket_is_wrong_use(path: str) -> None:
    with pytest.raises(WrongUse):
        connect().read(path)


# --- writing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("act", ["create", "swap"])
def test_a_write_whose_answer_was_lost_is_ours(gcs: Service, root: str, act: str) -> None:
    store = connect()
    if act == "swap":
        store.create(f"{root}/lease", b"before")
    gcs.fault(url="/upload/", status=503, after=True, times=1)
    if act == "create":
        store.create(f"{root}/lease", b"mine")
    else:
        assert store.swap(f"{root}/lease", b"before", b"mine")
    assert store.read(f"{root}/lease") == b"mine"


def test_a_refusal_without_a_lost_answer_is_not_ours(gcs: Service, root: str) -> None:
    connect().create(f"{root}/lease", b"same")
    with pytest.raises(FileExistsError):
        connect().create(f"{root}/lease", b"same")


def test_a_write_that_was_given_up_is_not_tried_again_later(gcs: Service, root: str) -> None:
    gcs.fault(url="/upload/", status=503)
    with pytest.raises(OSError, match="503"):
        connect(deadline=SHORT).create(f"{root}/lease", b"late")
    gcs.heal()
    gcs.requests()
    time.sleep(1.5)  # longer than the client waits before its next try
    assert gcs.requests() == []


def test_a_store_that_ignores_preconditions_fails_the_probe(gcs: Service, root: str) -> None:
    gcs.fault(url="ifGenerationMatch=0", status=200, body='{"kind": "storage#object"}')
    with pytest.raises(OSError, match=r"cannot (list|lock) under"):
        connect().probe(root)


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        ("write", {"url": "/upload/"}),
        ("list", {"url": "delimiter"}),
        ("read", {"url": "alt=media"}),
        ("rename", {"url": "copyTo"}),
        ("delete", {"url": "-renamed", "method": "DELETE"}),
    ],
)
def test_a_probe_names_the_step_that_failed(
    gcs: Service, root: str, step: str, fault: dict[str, str]
) -> None:
    gcs.fault(status=403, **fault)
    with pytest.raises(OSError, match=f"cannot {step} under {root}/_herorun: .*403") as error:
        connect().probe(root)
    assert type(error.value) is OSError


# --- faults ---------------------------------------------------------------------------------------

FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"status": 401}, "401 Unauthorized: the Google credentials have expired .*gcloud auth"),
    (
        {"status": 403, "body": '{"error": {"message": "caller has no storage.objects.list"}}'},
        "403 .*caller has no",
    ),
    ({"status": 429}, "429"),
    ({"status": 500}, "500"),
    ({"status": 503}, "503"),
    ({"status": 200, "body": "<html>sign in</html>"}, "JSON"),
    ({"status": 200, "body": ""}, "JSON"),
    ({"status": 200, "body": "[]"}, "not Cloud Storage's"),
    ({"status": 200, "body": "{}"}, "not Cloud Storage's"),
]


@pytest.mark.parametrize(("fault", "reason"), FAULTS)
def test_a_fault_is_an_error_with_its_reason_and_never_an_empty_answer(
    gcs: Service, root: str, fault: dict[str, Any], reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    store = connect(deadline=SHORT)
    looks: list[Callable[[str], object]] = [
        store.names,
        store.entries,
        store.modified,
        store.generation,
    ]
    looks += [store.region, store.rules]
    gcs.fault(**fault)
    # the others are tried again, to the end
    for look in looks[:: 1 if fault["status"] in (200, 403) else 9]:
        with pytest.raises(OSError, match=rf"{root}.*: .*{reason}") as error:
            look(root)
        assert not isinstance(error.value, (FileNotFoundError, FileExistsError))
    assert capfd.readouterr().err == ""


def test_not_found_is_not_found_everywhere(gcs: Service, root: str) -> None:
    store = connect()
    gcs.fault(status=404)
    for look in (store.read, store.region, store.rules, store.modified):
        with pytest.raises(FileNotFoundError):
            look(root)


def test_a_server_that_hangs_is_a_time_out(gcs: Service, root: str) -> None:
    gcs.fault(sleep=2)
    with pytest.raises(TimeoutError, match=rf"{root}: .*\b{SHORT}s"):
        connect(deadline=SHORT).names(root)


def test_nobody_there_is_an_error_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", "http://127.0.0.1:1")
    with pytest.raises(OSError, match=r"gs://bucket/x: .*Connect call failed"):
        connect(deadline=2 * SHORT).names("gs://bucket/x")


@pytest.fixture
def no_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STORAGE_EMULATOR_HOST", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.setenv("GCE_METADATA_HOST", "127.0.0.1:1")


def test_no_credentials_are_never_taken_for_anonymous_ones(no_login: None) -> None:
    with pytest.raises(OSError, match=r"Google credentials|no answer"):
        connect(deadline=2 * SHORT).names("gs://bucket/x")


@pytest.fixture
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Signs in as a service account that fetches its tokens from a place."""
    from cryptography.hazmat.primitives import serialization as serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(65537, 2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )

    def sign_in(tokens: str) -> None:
        account = {
            "type": "service_account",
            "client_email": "a@example.org",
            "private_key": pem.decode(),
            "token_uri": tokens,
        }
        (tmp_path / "key.json").write_text(json.dumps(account))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "key.json"))

    return sign_in


REFUSAL_BODY = '{"error": "invalid_grant", "error_description": "expired"}'


def test_credentials_that_have_expired_are_reported_so_and_at_once(
    gcs: Service, account: Callable[[str], None], capfd: pytest.CaptureFixture[str]
) -> None:
    account(f"{gcs.url}/token")
    gcs.fault(url="/token", status=400, body=REFUSAL_BODY)
    began = time.monotonic()
    with pytest.raises(OSError, match=r"gs://bucket/x: .*have expired.*gcloud auth.*invalid_grant"):
        connect(token="google_default").names("gs://bucket/x")
    assert time.monotonic() - began < 20
    assert capfd.readouterr().err == ""


# --- the login by itself, as `herorun doctor` asks for it -----------------------------------------


def test_a_login_that_gets_a_token_works_and_says_whose_it_is(
    gcs: Service, account: Callable[[str], None]
) -> None:
    account(f"{gcs.url}/token")
    gcs.fault(url="/token", status=200, body='{"access_token": "t", "expires_in": 3600}')
    (login,) = connect(token="google_default").examine()
    assert login.status is Fit.OK and mentions(login.message, "token", "a@example.org")


def test_a_login_that_is_refused_is_broken(gcs: Service, account: Callable[[str], None]) -> None:
    account(f"{gcs.url}/token")
    gcs.fault(url="/token", status=400, body=REFUSAL_BODY)
    (login,) = connect(token="google_default").examine()
    assert login.status is Fit.FAILED and mentions(login.message, "auth", "application-default")


def test_a_login_that_is_missing_is_broken_and_its_fix_stands_there(no_login: None) -> None:
    (login,) = connect().examine()
    assert login.status is Fit.FAILED and mentions(login.message, "auth", "application-default")


def test_a_login_that_nobody_could_ask_was_not_seen(
    no_login: None, account: Callable[[str], None]
) -> None:
    account("http://127.0.0.1:1/token")
    (login,) = connect(deadline=SHORT).examine()
    assert login.status is Fit.UNKNOWN and "expired" not in login.message and login.fix


# --- what the bucket says of itself ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "region"),
    [
        ({"location": "US-CENTRAL1"}, "us-central1"),
        ({"location": "EU"}, "eu"),
        (
            {
                "location": "US",
                "customPlacementConfig": {"dataLocations": ["US-EAST1", "US-WEST1"]},
            },
            "us-east1+us-west1",
        ),
    ],
)
def test_the_region_is_the_buckets(gcs: Service, facts: dict[str, Any], region: str) -> None:
    assert connect().region(f"gs://{a_bucket(gcs, **facts)}/tiny") == region


def deleting(**condition: Any) -> dict[str, Any]:
    return {"lifecycle": {"rule": [{"action": {"type": "Delete"}, "condition": condition}]}}


@pytest.mark.parametrize(
    ("facts", "words", "days"),
    [
        (deleting(age=14), "deletes objects 14d", 14),
        (deleting(age=1, matchesPrefix=["tiny/"]), "under tiny/ 1d after", 1),
        (deleting(age=3, matchesPrefix=["other/", "tin"]), "under other/, tin 3d", 3),
        (deleting(age=3, matchesPrefix=["tiny/deeper/"]), "under tiny/deeper/ 3d", None),
        (deleting(age=3, matchesSuffix=[".tmp"]), "where also matchesSuffix hold", None),
        (deleting(createdBefore="2026-01-01"), "where also createdBefore hold", None),
        (
            {"retentionPolicy": {"retentionPeriod": "86400"}},
            r"forbids to.* delete .* 1d",
            None,
        ),
        ({"softDeletePolicy": {"retentionDurationSeconds": "604800"}}, "7d longer", None),
        ({"versioning": {"enabled": True}}, "versioning", None),
        ({"defaultEventBasedHold": True}, "every new", None),
    ],
)
def test_a_rule_that_matches_is_reported(
    gcs: Service, facts: dict[str, Any], words: str, days: int | None
) -> None:
    rules = rules_of(gcs, **facts)
    assert [rule.deletes_after for rule in rules] == [timedelta(days=days) if days else None]
    assert re.search(words, rules[0].description)


@pytest.mark.parametrize(
    "facts",
    [
        {},
        deleting(age=14, matchesPrefix=["other/"]),
        deleting(age=14, isLive=False),
        deleting(numNewerVersions=3),
        {"lifecycle": {"rule": [{"action": {"type": "SetStorageClass"}, "condition": {"age": 1}}]}},
    ],
)
def test_a_rule_about_something_else_is_not(gcs: Service, facts: dict[str, Any]) -> None:
    assert rules_of(gcs, **facts) == ()


def rules_of(server: Service, **facts: Any) -> tuple[LifecycleRule, ...]:
    off = {"softDeletePolicy": {"retentionDurationSeconds": "0"}}
    return connect().rules(f"gs://{a_bucket(server, **off | facts)}/tiny")


# --- manners --------------------------------------------------------------------------------------

MANNERS = """
import os, sys
from herorun.core.ports import Place
from herorun.stores import gs
from herorun.stores._gs_client import _client
assert not {"asyncio", "fsspec", "gcsfs", "aiohttp"} & set(sys.modules)
store = gs.connect(gs.Options(), Place("tiny", "state", "gs://tiny", "."))
assert "gcsfs" not in sys.modules
before = dict(os.environ)
try:
    store.read("gs://nobody-has-this/x")
except FileNotFoundError:
    pass
assert dict(os.environ) == before
assert "gcsfs" in sys.modules and "gcsfs.extended_gcsfs" not in sys.modules
"""


@pytest.mark.thorough
def test_nothing_is_loaded_before_it_is_used_and_the_jobs_environment_stays(gcs: Service) -> None:
    env = {**os.environ, "PYTHONPATH": SRC}
    process = subprocess.run(
        [sys.executable, "-c", MANNERS], env=env, capture_output=True, text=True, timeout=60
    )
    assert (process.returncode, process.stderr) == (0, "")


# --- checksums ------------------------------------------------------------------------------------


def test_a_listing_tells_the_checksums_and_the_generation_that_cloud_storage_keeps(
    gcs: Service, root: str
) -> None:
    store = connect()
    store.create(f"{root}/a", b"hi")
    (entry,) = store.entries(root)
    md5 = base64.b64encode(hashlib.md5(b"hi").digest()).decode()
    assert entry.checksum == f"crc32c:9Z3Zwg== md5:{md5}"
    assert entry.version == f"generation:{store.generation(f'{root}/a')}"
    (digests,) = store.digests(root, ["a"], {})
    assert isinstance(digests, FileDigest)
    assert (digests.checksum, digests.version) == (entry.checksum, entry.version)


def test_an_object_that_is_too_large_to_be_read_whole_is_refused_before_it_is_here(
    gcs: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = a_bucket(gcs)
    gcs.tell("fill", bucket=name, files={"large": "x" * 3000, "well": "x" * 1000, "empty": ""})
    monkeypatch.setattr(gs, "MAX_BYTES", 1000)
    store = connect()
    with pytest.raises(OSError, match=rf"gs://{name}/large.*larger"):
        store.read(f"gs://{name}/large")
    assert store.end(f"gs://{name}/large", 10) == b"x" * 10
    assert len(store.read(f"gs://{name}/well")) == 1000
    assert store.read(f"gs://{name}/empty") == b""
