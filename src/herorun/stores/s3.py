"""S3 and compatible services, by s3fs: `s3://bucket/path`. Needs the extra
`s3`.

Every call is one of the API's own requests, as in `gs`; credentials are found as botocore finds
them, and one without any is an error and never an anonymous request.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from herorun.core.doctor_report import DoctorPart, Fit
from herorun.core.lazy_pydantic import Field
from herorun.core.ports import AdapterOptions, FileDigest, FileEntry, LifecycleRule, Place, Store
from herorun.stores._fsspec import DEADLINE, MalformedAnswer, Requests
from herorun.stores._object_store import ObjectStore
from herorun.stores._objects import ObjectFacts, ObjectPath, bearable, too_large
from herorun.stores._s3_client import (
    NONE,
    ask,
    client_message,
    error_code,
    is_amazons,
    login,
    open_client,
    refusing,
)
from herorun.stores._s3_lifecycle import rules_of
from herorun.system._regular_file import MAX_BYTES

T = TypeVar("T")
LOGIN = "AWS"
# as S3 calls what it may keep of an object
CHECKSUMS = ("SHA256", "SHA1", "CRC64NVME", "CRC32C", "CRC32")


class Options(AdapterOptions):
    endpoint: str | None = Field(
        None, description="URL of the service; AWS_ENDPOINT_URL, or Amazon's own."
    )
    deadline: float = Field(
        DEADLINE, gt=0, description="Seconds that one call may take, retries included."
    )


def connect(options: Options, place: Place) -> Store:
    return ObjectStore(
        S3Objects(Requests(lambda: open_client(options.endpoint), options.deadline, client_message))
    )


class S3Objects:
    """See `_objects.Objects`. The tag of an object is its ETag; its generation the version, where
    there are any.
    """

    scheme = "s3"
    has_buckets = True
    keeps_generations = False

    def __init__(self, requests: Requests) -> None:
        self._requests = requests

    def list_entries(self, at: ObjectPath) -> list[FileEntry]:
        return self._ask(at, lambda fs: _pages(fs, at))

    def facts(self, at: ObjectPath) -> ObjectFacts:
        return self._ask(at, lambda fs: _facts(fs, at))

    def digest(self, at: ObjectPath) -> FileDigest:
        return self._ask(at, lambda fs: _object_digest(fs, at))

    def read(self, at: ObjectPath, last: int | None = None) -> tuple[bytes, str]:
        return self._ask(at, lambda fs: _read(fs, at, last))

    def put(self, at: ObjectPath, data: bytes, tag: str | None) -> None:
        self._ask(at, lambda fs: _write_object(fs, at, data, tag))

    def copy(self, at: ObjectPath, to: ObjectPath) -> None:
        source = {"Bucket": at.bucket, "Key": at.key}
        self._ask(
            at, lambda fs: ask(fs, "copy_object", Bucket=to.bucket, Key=to.key, CopySource=source)
        )

    def delete(self, at: ObjectPath) -> None:
        self._ask(at, lambda fs: ask(fs, "delete_object", Bucket=at.bucket, Key=at.key))

    def region(self, at: ObjectPath) -> str | None:
        return self._ask(at, lambda fs: _region(fs, at))

    def rules(self, at: ObjectPath) -> tuple[LifecycleRule, ...]:
        return self._ask(at, lambda fs: rules_of(fs, at))

    def examine(self) -> tuple[DoctorPart, ...]:
        """The login alone: that there is one."""
        try:
            return (DoctorPart("login", LOGIN, Fit.OK, self._requests.ask(LOGIN, login)),)
        except OSError as error:
            return (
                DoctorPart(
                    "login", LOGIN, Fit.FAILED if NONE in str(error) else Fit.UNKNOWN, str(error)
                ),
            )

    def _ask(self, at: ObjectPath, act: Callable[[Any], Awaitable[T]]) -> T:
        return self._requests.ask(str(at), act)


async def _pages(fs: Any, at: ObjectPath) -> list[FileEntry]:
    entries: list[FileEntry] = []
    query = {"Bucket": at.bucket, "Prefix": at.prefix, "Delimiter": "/"}
    while True:
        page = await ask(fs, "list_objects_v2", **query)
        if "IsTruncated" not in page:  # no key at all is an answer, anything else is not
            raise MalformedAnswer("an answer that is no listing")
        entries += [FileEntry(prefix["Prefix"]) for prefix in page.get("CommonPrefixes", ())]
        entries += [
            FileEntry(item["Key"], item["LastModified"], item["Size"], checksum=_etag(item))
            for item in page.get("Contents", ())
        ]
        if not page["IsTruncated"]:
            return entries
        query["ContinuationToken"] = page["NextContinuationToken"]


def _etag(item: Mapping[str, Any]) -> str:
    """The ETag: of a plain upload the MD5, of one in parts a digest of digests; it changes with the
    content.
    """
    tag = str(item.get("ETag", "")).strip('"')
    return f"etag:{tag}" if tag else ""


async def _facts(fs: Any, at: ObjectPath) -> ObjectFacts:
    answer = await ask(fs, "head_object", Bucket=at.bucket, Key=at.key)
    version = answer.get("VersionId")
    return ObjectFacts(
        answer["ETag"],
        version if version not in (None, "null") else answer["ETag"],
        answer["LastModified"],
    )


async def _object_digest(fs: Any, at: ObjectPath) -> FileDigest:
    """A listing contains only the ETag."""
    answer = await ask(fs, "head_object", Bucket=at.bucket, Key=at.key, ChecksumMode="ENABLED")
    checksums = [
        _checksum(kind, str(answer[name]))
        for kind in CHECKSUMS
        if answer.get(name := f"Checksum{kind}")
    ]
    version = answer.get("VersionId")
    version_name = f"version:{version}" if version not in (None, "null") else ""
    return FileDigest(
        at.key,
        answer["ContentLength"],
        " ".join(filter(None, (*checksums, _etag(answer)))),
        version_name,
    )


def _checksum(kind: str, value: str) -> str:
    """`-5` at its end: a digest over the digests of five parts, which an upload in other parts has
    not.
    """
    return f"{kind.lower()}{'-of-parts' if '-' in value else ''}:{value}"


async def _read(fs: Any, at: ObjectPath, last: int | None) -> tuple[bytes, str]:
    part = {"Range": f"bytes=-{last}"} if last else {}
    try:
        answer = await ask(fs, "get_object", Bucket=at.bucket, Key=at.key, **part)
    except Exception as error:
        if error_code(error) in ("InvalidRange", "416"):  # the end of an empty file
            return b"", ""
        raise
    async with answer["Body"] as body:
        if answer.get("ContentLength", 0) > MAX_BYTES:
            raise too_large(at, MAX_BYTES)
        data = bytearray()
        # one reading gives what has come so far
        while len(data) <= MAX_BYTES and (part := await body.read(MAX_BYTES + 1 - len(data))):
            data += part
        return bearable(bytes(data), at, MAX_BYTES), answer["ETag"]


async def _write_object(fs: Any, at: ObjectPath, data: bytes, tag: str | None) -> None:
    condition = {"IfNoneMatch": "*"} if tag is None else {"IfMatch": tag}
    async with refusing():
        await ask(fs, "put_object", Bucket=at.bucket, Key=at.key, Body=data, **condition)


async def _region(fs: Any, at: ObjectPath) -> str | None:
    """Amazon leaves out the name of its first region; another service that leaves it out says
    nothing.
    """
    answer = await ask(fs, "get_bucket_location", Bucket=at.bucket)
    region = str(answer["LocationConstraint"] or "")
    if not re.fullmatch(r"[\w-]*", region):
        raise MalformedAnswer("an answer that names no region")
    if region == "EU":  # what Amazon called it first
        return "eu-west-1"
    return region or ("us-east-1" if is_amazons(fs) else None)
