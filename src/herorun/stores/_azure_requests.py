"""The Blob service's requests for one object or one page of names, each with its answer checked."""

import base64
import uuid
from collections.abc import Iterator
from typing import Any

from herorun.core.errors import WrongUse
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import FileDigest, FileEntry, LifecycleRule
from herorun.core.redaction.scrub import scrub
from herorun.stores._azure_client import (
    REFUSALS,
    error_code,
    listing,
    missing,
)
from herorun.stores._fsspec import MalformedAnswer, WriteRefused
from herorun.stores._objects import ObjectFacts, ObjectPath, too_large
from herorun.system._regular_file import MAX_BYTES

PAGE = 5000  # names, the most that Azure gives at once
FORM = "abfs://CONTAINER/PATH or abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH"


# Azure's own clouds: a token is sent to no other host that a contract names
_HOST = lazy_regex(
    r"(?P<account>[a-z0-9]{3,24})\.(?:dfs|blob)\."
    r"(?P<cloud>core\.(?:windows\.net|usgovcloudapi\.net|chinacloudapi\.cn))"
)
_CONTAINER = lazy_regex(r"[a-z0-9$][a-z0-9-]{1,62}")


# how a data lake marks a folder, which is an object of its own there
FOLDER = "hdi_isfolder"
WRITE = "herorun_write"
HIDDEN_RULES = (
    "Azure reports the rules that delete by age only in its management API: see Lifecycle "
    "management of the storage account"
)


def container_of(at: ObjectPath) -> tuple[str, str, str]:
    """Container, account and host; account and host are empty where the environment names them.

    >>> container_of(ObjectPath("abfs", "runs@lab.dfs.core.windows.net", "tiny"))
    ('runs', 'lab', 'lab.blob.core.windows.net')
    >>> container_of(ObjectPath("abfs", "runs", "tiny"))
    ('runs', '', '')
    """
    container, has_account, host = at.bucket.partition("@")
    match = _HOST.fullmatch(host)
    if not _CONTAINER.fullmatch(container) or (has_account and not match):
        raise WrongUse(f"{scrub(str(at))!r} has no valid Azure container: write {FORM}.")
    if match is None:
        return container, "", ""
    return container, match["account"], f"{match['account']}.blob.{match['cloud']}"


def container_client(fs: Any, at: ObjectPath) -> Any:
    return fs.service_client.get_container_client(container_of(at)[0])


def blob_client(fs: Any, at: ObjectPath) -> Any:
    return container_client(fs, at).get_blob_client(at.key)


async def list_pages(fs: Any, at: ObjectPath) -> list[FileEntry]:
    entries: dict[str, FileEntry] = {}
    async with missing(), listing():
        async for item in container_client(fs, at).walk_blobs(
            name_starts_with=at.prefix, include=["metadata"], delimiter="/", results_per_page=PAGE
        ):
            entry = _entry(item)
            entries.setdefault(entry.name, entry)
    if not entries and at.key and await _is_empty_folder(fs, at):
        return [FileEntry(at.prefix)]
    return list(entries.values())


def _entry(item: Any) -> FileEntry:
    """A folder's own object counts as the folder, which other objects may also make."""
    name = str(item.name)
    if not hasattr(item, "etag") or item.etag is None:
        return FileEntry(name if name.endswith("/") else f"{name}/")
    if _marks_folder(item):
        return FileEntry(f"{name}/")
    return FileEntry(name, item.last_modified, int(item.size), checksum=_checksums(item))


def _marks_folder(item: Any) -> bool:
    return str((item.metadata or {}).get(FOLDER, "")).lower() == "true"


async def _is_empty_folder(fs: Any, at: ObjectPath) -> bool:
    try:
        async with missing():
            return _marks_folder(await blob_client(fs, at).get_blob_properties())
    except FileNotFoundError:
        return False


def _checksums(item: Any) -> str:
    """The MD5, which Azure keeps of what was sent in one piece, and the ETag, which changes with
    each write.
    """
    md5 = item.content_settings.content_md5
    kinds = {"md5": base64.b64encode(bytes(md5)).decode() if md5 else "", "etag": _bare(item.etag)}
    return " ".join(f"{kind}:{value}" for kind, value in kinds.items() if value)


def _bare(etag: str | None) -> str:
    return str(etag or "").strip('"')


async def _properties(fs: Any, at: ObjectPath) -> Any:
    async with missing():
        properties = await blob_client(fs, at).get_blob_properties()
    if not properties.etag or properties.last_modified is None:
        raise MalformedAnswer("an answer that is not Azure's: is there a proxy?")
    return properties


async def read_facts(fs: Any, at: ObjectPath) -> ObjectFacts:
    properties = await _properties(fs, at)
    return ObjectFacts(
        properties.etag, properties.version_id or _bare(properties.etag), properties.last_modified
    )


async def read_digest(fs: Any, at: ObjectPath) -> FileDigest:
    properties = await _properties(fs, at)
    version = f"version:{properties.version_id}" if properties.version_id else ""
    return FileDigest(at.key, int(properties.size), _checksums(properties), version)


async def read_object(fs: Any, at: ObjectPath, last: int | None) -> tuple[bytes, str]:
    """The service knows no "last bytes": it is asked for the size first."""
    part = {}
    if last:
        size = int((await _properties(fs, at)).size)
        if not size:
            return b"", ""
        part = {"offset": max(0, size - last), "length": min(size, last)}
    async with missing():
        stream = await blob_client(fs, at).download_blob(**part)
        if not last and stream.properties.size > MAX_BYTES:
            raise too_large(at, MAX_BYTES)
        data = await stream.readall()
    if not stream.properties.etag:
        raise MalformedAnswer("an answer that is not Azure's: is there a proxy?")
    return data, stream.properties.etag


async def put_object(fs: Any, at: ObjectPath, data: bytes, tag: str | None) -> None:
    """Each write has a number of its own: the client sends again what a lost connection did not
    answer, and nobody is notified.
    """
    from azure.core import MatchConditions

    number = uuid.uuid4().hex
    condition = {"etag": tag, "match_condition": MatchConditions.IfNotModified}
    try:
        async with missing():
            answer = await blob_client(fs, at).upload_blob(
                data,
                overwrite=tag is not None,
                metadata={WRITE: number},
                **(condition if tag is not None else {}),
            )
    except Exception as error:
        if error_code(error) not in REFUSALS:
            raise
        raise WriteRefused(ours=await _write_number(fs, at) == number) from None
    if not answer.get("etag"):
        raise MalformedAnswer("an answer that names no ETag")


async def _write_number(fs: Any, at: ObjectPath) -> str:
    """The number of the write that made the object; empty if it is gone or not ours."""
    try:
        return str(((await _properties(fs, at)).metadata or {}).get(WRITE, ""))
    except FileNotFoundError:
        return ""


async def copy_object(fs: Any, at: ObjectPath, to: ObjectPath) -> None:
    async with missing():
        answer = await blob_client(fs, to).start_copy_from_url(blob_client(fs, at).url)
    if answer.get("copy_status") != "success":
        raise MalformedAnswer("a copy that has not ended")


async def delete_object(fs: Any, at: ObjectPath) -> None:
    """The object that marks a folder may have no slash."""
    try:
        async with missing():
            await blob_client(fs, at).delete_blob()
    except FileNotFoundError:
        bare = ObjectPath(at.scheme, at.bucket, at.key.rstrip("/"))
        if bare.key == at.key or not await _is_empty_folder(fs, bare):
            raise
        await blob_client(fs, bare).delete_blob()


async def read_rules(fs: Any, at: ObjectPath) -> tuple[LifecycleRule, ...]:
    async with missing():
        properties = await container_client(fs, at).get_container_properties()
    if not properties.etag:
        raise MalformedAnswer("an answer that is not Azure's: is there a proxy?")
    return (*_locks(properties), LifecycleRule(HIDDEN_RULES, unreported=True))


def _locks(properties: Any) -> Iterator[LifecycleRule]:
    if properties.has_immutability_policy:
        yield LifecycleRule(
            "the container's immutability policy forbids to replace or delete what was written"
        )
    if properties.has_legal_hold:
        yield LifecycleRule(
            "the container has a legal hold: what it contains cannot be replaced or deleted"
        )
