"""The s3 store, against a loopback server: the contract suite, then S3's own traps."""

import base64
import hashlib
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

import herorun
from herorun.core.doctor_report import Fit
from herorun.core.errors import WrongUse
from herorun.core.ports import Place, Store
from herorun.stores import s3 as module
from herorun.stores._s3_client import is_amazons, open_client
from herorun.stores.s3 import _checksum
from ports.store_suite import StoreBench, StoreSuite
from services.servers import Service
from wording import mentions

SRC = str(Path(herorun.__file__).parents[1])
SHORT = 0.8  # seconds: what a test that hangs waits


def connect(number: int = 0, **options: Any) -> Store:
    """A new client takes long to set up: they are kept, by what they were made of."""
    made_of = tuple(os.environ.get(name, "") for name in ("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID"))
    return _connect(number, made_of, *options.items())


@cache
def _connect(number: int, made_of: tuple[str, ...], *options: tuple[str, Any]) -> Store:
    return module.connect(module.Options(**dict(options)), Place("tiny", "state", "s3://tiny", "."))


def a_bucket(server: Service, **facts: Any) -> str:
    name = f"b{uuid.uuid4().hex}"
    server.tell("bucket", name=name, **facts)
    return name


class Bench:
    def __init__(self, server: Service) -> None:
        self.server = server
        self.root = f"s3://{a_bucket(server)}/tiny/out"
        self.turns = cycle(range(2))  # what one client wrote, another reads

    def connect(self) -> Store:
        return connect(next(self.turns))

    def cut_off(self, path: str) -> None:
        self.server.fault(url=path.removeprefix("s3://").partition("/")[2], status=403)


class TestS3(StoreSuite):
    has_empty_folders = False
    many = 40  # its pages have a test of their own
    # the server here finds no such path
    weird = tuple(name for name in StoreSuite.weird if "\n" not in name)

    @pytest.fixture
    def bench(self, s3: Service) -> StoreBench:
        return Bench(s3)


@pytest.fixture
def root(s3: Service) -> str:
    return f"s3://{a_bucket(s3)}/tiny"


# --- listings -------------------------------------------------------------------------------------


def test_a_listing_is_one_request_a_page_and_never_a_walk(s3: Service, root: str) -> None:
    bucket = root.split("/")[2]
    files = {f"tiny/step-{n}/{name}": "" for n in range(1500) for name in ("a", "b")}
    s3.tell("fill", bucket=bucket, files=files)
    s3.requests()
    assert len(connect().names(root)) == 1500
    assert [line.partition("?")[0] for line in s3.requests()] == [f"GET /{bucket}"] * 2


def test_a_marker_that_another_process_wrote_is_seen_at_once(s3: Service, root: str) -> None:
    store = connect()
    store.create(f"{root}/step-1/data", b"")
    assert store.names(f"{root}/step-1") == ("data",)
    s3.tell("fill", bucket=root.split("/")[2], files={"tiny/step-1/metadata.json": "{}"})
    assert store.names(f"{root}/step-1") == ("data", "metadata.json")


def test_a_folders_own_marker_is_no_file_and_makes_it_exist(s3: Service, root: str) -> None:
    s3.tell("fill", bucket=root.split("/")[2], files={"tiny/": "", "tiny/step-1/": ""})
    assert connect().names(root) == ("step-1/",)
    assert connect().names(f"{root}/step-1") == ()


@pytest.mark.parametrize("path", ["s3://nobody-has-this", "s3://nobody-has-this/tiny"])
def test_a_bucket_that_does_not_exist_is_neither_empty_nor_a_folder_to_come(
    s3: Service, path: str
) -> None:
    with pytest.raises(OSError, match=f"{path}: s3://nobody-has-this .*bucket") as error:
        connect().names(path)
    assert not isinstance(error.value, FileNotFoundError)


def test_an_empty_bucket_is_empty(s3: Service) -> None:
    assert connect().names(f"s3://{a_bucket(s3)}/") == ()


@pytest.mark.parametrize("form", ["{0}//a", "{0}/a/", "{0}//a//"])
def test_slashes_make_no_other_place(s3: Service, root: str, form: str) -> None:
    connect().create(f"{root}/a", b"1")
    assert connect().read(form.format(root)) == b"1"


@pytest.mark.parametrize("path", ["/data/x", "s3://", "s3:///", "gs://bucket/x", "bucket/x"])
def test_what_names_no_bucket_is_wrong_use(path: str) -> None:
    with pytest.raises(WrongUse):
        connect().read(path)


# --- writing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("act", ["create", "swap"])
def test_a_write_whose_answer_was_lost_is_ours(s3: Service, root: str, act: str) -> None:
    store = connect()
    if act == "swap":
        store.create(f"{root}/lease", b"before")
    s3.fault(method="PUT", status=503, after=True, times=1)
    if act == "create":
        store.create(f"{root}/lease", b"mine")
    else:
        assert store.swap(f"{root}/lease", b"before", b"mine")
    assert store.read(f"{root}/lease") == b"mine"


def test_a_refusal_without_a_lost_answer_is_not_ours(s3: Service, root: str) -> None:
    connect().create(f"{root}/lease", b"same")
    with pytest.raises(FileExistsError):
        connect().create(f"{root}/lease", b"same")


def test_a_conflict_of_two_writers_is_a_refusal(s3: Service, root: str) -> None:
    s3.fault(method="PUT", status=409, body=an_error("ConditionalRequestConflict"))
    with pytest.raises(FileExistsError):
        connect().create(f"{root}/lease", b"mine")


def test_a_store_that_ignores_preconditions_fails_the_probe(s3: Service, root: str) -> None:
    s3.fault(method="PUT", status=200)
    with pytest.raises(OSError, match=r"cannot (list|lock) under"):
        connect().probe(root)


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        ("write", {"method": "PUT"}),
        ("list", {"url": "list-type"}),
        ("rename", {"url": "-renamed"}),
        ("delete", {"url": "-renamed", "method": "DELETE"}),
    ],
)
def test_a_probe_names_the_step_that_failed(
    s3: Service, root: str, step: str, fault: dict[str, str]
) -> None:
    s3.fault(status=403, **fault)
    with pytest.raises(OSError, match=f"cannot {step} under {root}/_herorun: .*403") as error:
        connect().probe(root)
    assert type(error.value) is OSError


# --- faults ---------------------------------------------------------------------------------------


def an_error(code: str) -> str:
    return f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>so it is</Message></Error>"


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"status": 401}, "401: Unauthorized; the AWS credentials have expired"),
    (
        {"status": 400, "body": an_error("ExpiredToken")},
        "400 ExpiredToken: so it is; the AWS credentials have",
    ),
    ({"status": 403, "body": an_error("AccessDenied")}, "403 AccessDenied.*so it is"),
    ({"status": 429}, "429"),
    ({"status": 500, "body": an_error("InternalError")}, "500 InternalError"),
    ({"status": 503, "body": an_error("SlowDown")}, "503 SlowDown"),
    # botocore calls it a failure of the server
    ({"status": 200, "body": "<html>sign in"}, "500|no XML"),
    ({"status": 200, "body": "<html>sign in</html>"}, "no listing"),
    ({"status": 200, "body": ""}, "no listing|no XML"),
]


@pytest.mark.parametrize(("fault", "reason"), FAULTS)
def test_a_fault_is_an_error_with_its_reason_and_never_an_empty_answer(
    s3: Service, root: str, fault: dict[str, Any], reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    store = connect(deadline=SHORT)
    s3.fault(**fault)
    with pytest.raises(OSError, match=rf"{root}.*: .*({reason})") as error:
        store.names(root)
    assert not isinstance(error.value, (FileNotFoundError, FileExistsError))
    assert capfd.readouterr().err == ""


MALFORMED_ANSWER = {"status": 200, "body": "<html>sign in</html>"}
REFUSAL = {"status": 403}
QUESTIONS = [
    (word, REFUSAL) for word in ("region", "rules", "modified", "generation", "read", "entries")
]


@pytest.mark.parametrize(
    ("word", "fault"), [*QUESTIONS, ("region", MALFORMED_ANSWER), ("rules", MALFORMED_ANSWER)]
)
def test_no_question_takes_a_fault_for_an_answer(
    s3: Service, root: str, word: str, fault: dict[str, Any]
) -> None:
    s3.fault(**fault)
    with pytest.raises(OSError, match=root) as error:
        getattr(connect(deadline=SHORT), word)(root)
    assert not isinstance(error.value, (FileNotFoundError, FileExistsError))


def test_not_found_is_not_found_everywhere(s3: Service, root: str) -> None:
    store = connect()
    s3.fault(status=404, body=an_error("NoSuchBucket"))
    looks: list[Callable[[str], object]] = [store.read, store.region, store.rules, store.modified]
    for look in looks:
        with pytest.raises(FileNotFoundError):
            look(root)


def test_a_server_that_hangs_is_a_time_out(s3: Service, root: str) -> None:
    s3.fault(sleep=2)
    with pytest.raises(TimeoutError, match=rf"{root}: .*\b{SHORT}s"):
        connect(deadline=SHORT).names(root)


@pytest.mark.thorough
def test_nobody_there_is_an_error_with_its_reason(
    s3: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(
        OSError, match=r"s3://bucket/x: .*Could not connect|s3://bucket/x: .*Connect call failed"
    ):
        connect(deadline=5 * SHORT).names("s3://bucket/x")  # the client is loaded within it


def test_no_credentials_are_never_taken_for_anonymous_ones(
    s3: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    (login,) = connect().examine()
    assert login.status is Fit.FAILED and "set AWS_PROFILE" in login.message
    with pytest.raises(OSError, match="AWS"):
        connect().names("s3://bucket/x")


# --- what the bucket says of itself ---------------------------------------------------------------


@pytest.mark.parametrize(("location", "region"), [("us-west-2", "us-west-2"), ("EU", "eu-west-1")])
def test_the_region_is_the_buckets(s3: Service, location: str, region: str) -> None:
    assert connect().region(f"s3://{a_bucket(s3, location=location)}/tiny") == region


def test_a_service_that_names_no_region_is_not_taken_for_amazons_first(s3: Service) -> None:
    root = f"s3://{a_bucket(s3, location='us-east-1')}/tiny"
    assert connect().region(root) is None


@pytest.mark.parametrize(
    ("endpoint", "amazons"),
    [
        (None, True),
        ("https://s3.us-west-2.amazonaws.com", True),
        ("https://amazonaws.com.example.org", False),
    ],
)
def test_amazons_own_service_is_known_by_its_host(
    s3: Service, monkeypatch: pytest.MonkeyPatch, endpoint: str | None, amazons: bool
) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    assert is_amazons(open_client(endpoint)) is amazons


def a_rule(days: int = 3, **changes: Any) -> dict[str, Any]:
    fields = {
        "ID": "r",
        "Status": "Enabled",
        "Filter": {"Prefix": ""},
        "Expiration": {"Days": days},
    }
    return {"lifecycle": [{**fields, **changes}]}


@pytest.mark.parametrize(
    ("facts", "words", "days"),
    [
        (a_rule(14), "deletes objects 14d", 14),
        (a_rule(1, Filter={"Prefix": "tiny/"}), "under tiny/ 1d after", 1),
        (a_rule(3, Filter={"Prefix": "tiny/deeper/"}), "under tiny/deeper/ 3d", None),
        (a_rule(3, Filter={"Tag": {"Key": "a", "Value": "b"}}), "where also Tag hold", None),
        ({"versioning": "Enabled"}, "versioning", None),
    ],
)
def test_a_rule_that_matches_is_reported(
    s3: Service, facts: dict[str, Any], words: str, days: int | None
) -> None:
    (rules,) = connect().rules(f"s3://{a_bucket(s3, **facts)}/tiny")
    assert rules.deletes_after == (timedelta(days=days) if days else None)
    assert re.search(words, rules.description)


@pytest.mark.parametrize(
    "facts",
    [
        {},
        a_rule(14, Filter={"Prefix": "other/"}),
        a_rule(14, Status="Disabled"),
    ],
)
def test_a_rule_about_something_else_is_not(s3: Service, facts: dict[str, Any]) -> None:
    assert connect().rules(f"s3://{a_bucket(s3, **facts)}/tiny") == ()


# --- manners --------------------------------------------------------------------------------------

MISSING = """
import sys
sys.modules["s3fs"] = None
from herorun.core.errors import WrongUse
from herorun.core.ports import Place
from herorun.stores import s3
store = s3.connect(s3.Options(), Place("tiny", "state", "s3://tiny", "."))
assert not {"asyncio", "fsspec", "botocore"} & set(sys.modules)
try:
    store.names("s3://bucket/x")
except WrongUse as error:
    print(error)
"""


@pytest.mark.thorough
def test_without_s3fs_it_says_what_to_install() -> None:
    env = {**os.environ, "PYTHONPATH": SRC}
    process = subprocess.run(
        [sys.executable, "-c", MISSING], env=env, capture_output=True, text=True, timeout=60
    )
    assert process.stderr == ""
    assert mentions(process.stdout, "s3://", "s3fs", "`s3`")


# --- checksums ------------------------------------------------------------------------------------


def test_a_listing_tells_the_etag(s3: Service, root: str) -> None:
    connect().create(f"{root}/a", b"hi")
    (entry,) = connect().entries(root)
    assert entry.checksum == f"etag:{hashlib.md5(b'hi').hexdigest()}"


def test_an_object_tells_the_checksums_that_it_has_and_its_version(s3: Service, root: str) -> None:
    bucket = root.split("/")[2]
    store = connect()
    store.create(f"{root}/plain", b"hi")
    digest = base64.b64encode(hashlib.sha256(b"hi").digest()).decode()
    client = _client(s3)
    client.put_object(Bucket=bucket, Key="tiny/summed", Body=b"hi", ChecksumAlgorithm="SHA256")
    client.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    version = client.put_object(Bucket=bucket, Key="tiny/kept", Body=b"hi")["VersionId"]
    by_name = {
        each.name: each
        for each in store.digests(root, ["plain", "summed", "kept"], {})
        if not isinstance(each, int)
    }
    etag = f"etag:{hashlib.md5(b'hi').hexdigest()}"
    assert (by_name["plain"].checksum, by_name["plain"].version) == (etag, "")
    assert by_name["summed"].checksum == f"sha256:{digest} {etag}"
    assert by_name["kept"].version == f"version:{version}"


def test_a_checksum_of_parts_is_another_kind() -> None:
    assert _checksum("SHA256", "YWJj=-5") == "sha256-of-parts:YWJj=-5"
    assert _checksum("CRC64NVME", "YWJj=") == "crc64nvme:YWJj="


def _client(s3: Service) -> Any:
    import botocore.session

    return botocore.session.get_session().create_client(
        "s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"]
    )


def test_an_object_that_is_too_large_to_be_read_whole_is_refused_before_it_is_here(
    s3: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = a_bucket(s3)
    s3.tell("fill", bucket=name, files={"large": "x" * 3000, "well": "x" * 1000, "empty": ""})
    monkeypatch.setattr(module, "MAX_BYTES", 1000)
    store = connect()
    with pytest.raises(OSError, match=rf"s3://{name}/large.*larger"):
        store.read(f"s3://{name}/large")
    assert store.end(f"s3://{name}/large", 10) == b"x" * 10
    assert len(store.read(f"s3://{name}/well")) == 1000
    assert store.read(f"s3://{name}/empty") == b""
