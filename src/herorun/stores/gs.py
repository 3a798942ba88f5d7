"""Google Cloud Storage by gcsfs: `gs://bucket/path`.

Every call is one of the JSON API's own requests, so that a listing is never a walk, never comes
from a cache and never hides a refusal. Credentials are Google's default ones, and never none
because those are missing.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from herorun.core.doctor_report import DoctorPart, Fit
from herorun.core.lazy_pydantic import Field
from herorun.core.ports import AdapterOptions, FileDigest, FileEntry, LifecycleRule, Place, Store
from herorun.stores._fsspec import DEADLINE, NOW, MalformedAnswer, Requests, WriteRefused
from herorun.stores._gs_client import EXPIRED_CREDENTIALS, NONE, error_message, login, open_client
from herorun.stores._gs_lifecycle import rules_of
from herorun.stores._object_store import ObjectStore
from herorun.stores._objects import ObjectFacts, ObjectPath, bearable
from herorun.system._regular_file import MAX_BYTES

T = TypeVar("T")
LOGIN = "Google Cloud"
LISTING_FIELDS = "kind,nextPageToken,prefixes,items(name,size,updated,generation,md5Hash,crc32c)"
FACTS = "generation,updated"
CHECKSUMS = "generation,size,md5Hash,crc32c"


class Options(AdapterOptions):
    token: str | None = Field(
        None, description="google_default, cloud, anon, or a key file's path."
    )
    endpoint: str | None = Field(
        None, description="URL of the service, where it is not Google's own."
    )
    deadline: float = Field(
        DEADLINE, gt=0, description="Seconds that one call may take, retries included."
    )


def connect(options: Options, place: Place) -> Store:
    requests = Requests(
        lambda: open_client(options.token, options.endpoint), options.deadline, error_message
    )
    return ObjectStore(GoogleObjects(requests))


class GoogleObjects:
    """See `_objects.Objects`. The tag of an object is its generation."""

    scheme = "gs"
    has_buckets = True
    keeps_generations = True

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
        self._ask(at, lambda fs: _write_object(fs, at, data, "0" if tag is None else tag))

    def copy(self, at: ObjectPath, to: ObjectPath) -> None:
        names = (at.bucket, at.key, to.bucket, to.key)
        self._ask(at, lambda fs: _call(fs, "POST", "b/{}/o/{}/copyTo/b/{}/o/{}", *names))

    def delete(self, at: ObjectPath) -> None:
        self._ask(at, lambda fs: fs._call("DELETE", "b/{}/o/{}", at.bucket, at.key))

    def region(self, at: ObjectPath) -> str | None:
        return self._ask(at, lambda fs: _region(fs, at))

    def rules(self, at: ObjectPath) -> tuple[LifecycleRule, ...]:
        return self._ask(at, lambda fs: _lifecycle_rules(fs, at))

    def examine(self) -> tuple[DoctorPart, ...]:
        """Checks the login only: an open bucket can be listed without one."""
        try:
            return (DoctorPart("login", LOGIN, Fit.OK, self._requests.ask(LOGIN, login)),)
        except OSError as error:
            message = str(error)
            is_refused = NONE in message or EXPIRED_CREDENTIALS in message
            fix = (
                ""
                if is_refused
                else (
                    "Is there a network? `gcloud auth application-default print-access-token` "
                    "asks the same."
                )
            )
            return (
                DoctorPart("login", LOGIN, Fit.FAILED if is_refused else Fit.UNKNOWN, message, fix),
            )

    def _ask(self, at: ObjectPath, act: Callable[[Any], Awaitable[T]]) -> T:
        return self._requests.ask(str(at), act)


async def _call(fs: Any, *request: str, **query: Any) -> dict[str, Any]:
    facts = await fs._call(*request, json_out=True, **query)
    if not isinstance(facts, dict) or not facts.keys() & {"kind", "generation"}:
        raise MalformedAnswer("an answer that is not Cloud Storage's: is there a proxy?")
    return facts


async def _pages(fs: Any, at: ObjectPath) -> list[FileEntry]:
    entries: list[FileEntry] = []
    query = {"delimiter": "/", "prefix": at.prefix, "fields": LISTING_FIELDS}
    while True:
        page = await _call(fs, "GET", "b/{}/o", at.bucket, **query)
        # no item at all is an answer, anything else is not
        if page.get("kind") != "storage#objects":
            raise MalformedAnswer("an answer that is no listing")
        entries += [FileEntry(str(prefix)) for prefix in page.get("prefixes", ())]
        entries += [
            FileEntry(
                str(item["name"]),
                _parse_iso_time(item["updated"]),
                int(item["size"]),
                checksum=_checksums(item),
                version=_version(item),
            )
            for item in page.get("items", ())
        ]
        if not page.get("nextPageToken"):
            return entries
        query["pageToken"] = page["nextPageToken"]


async def _facts(fs: Any, at: ObjectPath) -> ObjectFacts:
    facts = await _call(fs, "GET", "b/{}/o/{}", at.bucket, at.key, fields=FACTS, **_pin(at))
    return ObjectFacts(facts["generation"], facts["generation"], _parse_iso_time(facts["updated"]))


async def _object_digest(fs: Any, at: ObjectPath) -> FileDigest:
    facts = await _call(fs, "GET", "b/{}/o/{}", at.bucket, at.key, fields=CHECKSUMS, **_pin(at))
    return FileDigest(at.key, int(facts["size"]), _checksums(facts), _version(facts))


async def _read(fs: Any, at: ObjectPath, last: int | None) -> tuple[bytes, str]:
    # one byte beyond the limit shows that the object is larger; no more of it is sent
    extra_headers = {"Range": f"bytes=-{last}" if last else f"bytes=0-{MAX_BYTES}"}
    try:
        headers, data = await fs._call(
            "GET", "b/{}/o/{}", at.bucket, at.key, headers=extra_headers, alt="media", **_pin(at)
        )
    except Exception as error:
        if getattr(error, "code", None) != 416:
            raise
        if last:  # the end of an empty file
            return b"", ""
        headers, data = await fs._call(
            "GET", "b/{}/o/{}", at.bucket, at.key, alt="media", **_pin(at)
        )
    return bearable(data, at, MAX_BYTES), headers.get("x-goog-generation", "")


async def _write_object(fs: Any, at: ObjectPath, data: bytes, generation: str) -> None:
    if not generation:
        raise MalformedAnswer("the store did not say which generation was read")
    url = f"{fs.base.removesuffix('/storage/v1/')}/upload/storage/v1/b/{at.bucket}/o"
    query = {"uploadType": "media", "name": at.key, "ifGenerationMatch": generation}
    plain = {"Content-Type": "application/octet-stream"}
    try:
        await _call(fs, "POST", url, data=data, headers=plain, **query)
    except FileExistsError:
        raise WriteRefused(ours=NOW.get().count > 1) from None


async def _region(fs: Any, at: ObjectPath) -> str:
    """`us-central1`, `us`, or `us-central1+us-east1` of a bucket that lies in two."""
    bucket = await _call(fs, "GET", "b/{}", at.bucket)
    parts = bucket.get("customPlacementConfig", {}).get("dataLocations") or [bucket["location"]]
    return "+".join(str(part).lower() for part in parts)


async def _lifecycle_rules(fs: Any, at: ObjectPath) -> tuple[LifecycleRule, ...]:
    return rules_of(await _call(fs, "GET", "b/{}", at.bucket), at.prefix)


def _checksums(item: Mapping[str, Any]) -> str:
    """As Cloud Storage writes them, in base64. A composed object has no MD5."""
    kinds = {"crc32c": item.get("crc32c"), "md5": item.get("md5Hash")}
    return " ".join(f"{kind}:{value}" for kind, value in kinds.items() if value)


def _version(item: Mapping[str, Any]) -> str:
    return f"generation:{item['generation']}"


def _pin(at: ObjectPath) -> dict[str, str]:
    return {"generation": at.generation} if at.generation else {}


def _parse_iso_time(text: str) -> datetime:
    return datetime.fromisoformat(text)
