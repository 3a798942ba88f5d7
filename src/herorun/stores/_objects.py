"""The interface of each object store, and paths in it."""

import errno
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from herorun.core.lazy_dataclass import dataclass
from herorun.core.ports import FileDigest, FileEntry, LifecycleRule


@dataclass(frozen=True)
class ObjectPath:
    """A path in a store. Doubled or trailing slashes do not matter."""

    scheme: str
    bucket: str  # empty where the store has none
    key: str  # no slash at either end; empty for the whole bucket
    # `#1234567890123456` at the end of a path of a store that keeps generations
    generation: str = ""

    @property
    def prefix(self) -> str:
        return f"{self.key}/" if self.key else ""

    def sibling(self, name: str) -> "ObjectPath":
        return replace(self, key=f"{self.prefix}{name}")

    def __str__(self) -> str:
        return f"{self.scheme}://{'/'.join(part for part in (self.bucket, self.key) if part)}"


@dataclass(frozen=True)
class ObjectFacts:
    """A store's facts about one object. `tag` is for preconditions, `generation` identifies the
    content.
    """

    tag: str
    generation: str
    modified: datetime | None


def too_large(at: ObjectPath, most: int) -> OSError:
    return OSError(errno.EFBIG, f"it is larger than {most >> 20} MiB", str(at))


def bearable(data: bytes, at: ObjectPath, most: int) -> bytes:
    """The data, unless it is too large: an object of gigabytes must not exhaust the memory."""
    if len(data) > most:
        raise too_large(at, most)
    return data


class Objects(Protocol):
    """What each object store does in its own way. Errors are as `core.ports.Store` says."""

    scheme: str
    has_buckets: bool
    keeps_generations: bool

    def list_entries(self, at: ObjectPath) -> list[FileEntry]:
        """By one delimited listing, under whole keys; a key that is the prefix itself marks a
        folder.
        """

    def facts(self, at: ObjectPath) -> ObjectFacts: ...

    def digest(self, at: ObjectPath) -> FileDigest:
        """The checksums that the store keeps of one object, under its whole key; it is not read."""

    def read(self, at: ObjectPath, last: int | None = None) -> tuple[bytes, str]:
        """All or the last bytes, and the tag."""

    def put(self, at: ObjectPath, data: bytes, tag: str | None) -> None:
        """Write it if the present object has the tag, or (without a tag) if there is none;
        otherwise `WriteRefused`.
        """

    def copy(self, at: ObjectPath, to: ObjectPath) -> None: ...

    def delete(self, at: ObjectPath) -> None: ...

    def region(self, at: ObjectPath) -> str | None: ...

    def rules(self, at: ObjectPath) -> tuple[LifecycleRule, ...]: ...
