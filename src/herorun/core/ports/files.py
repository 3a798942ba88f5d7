"""Stores, and the layouts of the checkpoints in them."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol, runtime_checkable

from herorun.core.evidence import Candidate
from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True)
class LifecycleRule:
    """A rule of the store about what lies under a root."""

    description: str  # for people
    deletes_after: timedelta | None = None  # of an object's age; None: it deletes nothing by age
    unreported: bool = False  # no rule: `description` says which rules this login may not read


@dataclass(frozen=True)
class FileEntry:
    """One name in a folder."""

    name: str  # a folder's ends with a slash
    # None: the store reports none, as object stores do for folders
    modified: datetime | None = None
    size: int | None = None  # bytes; None for a folder
    link: bool = False  # it only leads elsewhere: what it leads to is not in this folder
    # of the content, as `kind:value`, if the listing has one; several apart by a space
    checksum: str = ""
    # the store's own word for this content, as `generation:1700000000000000`, where it keeps one
    version: str = ""


@dataclass(frozen=True)
class FileDigest:
    """What is known of the content of one file."""

    name: str
    size: int  # bytes
    # as in `FileEntry`; empty for what is no regular file, which has no content of its own
    checksum: str
    version: str = ""
    # changes whenever the file does: while it stays, the digest holds. Empty: it is asked each time
    stamp: str = ""


class Store(Protocol):
    """A place for checkpoints and for the run's own `_herorun/` files.

    A missing path raises FileNotFoundError and an existing one FileExistsError; whatever else goes
    wrong raises OSError and is never read as "empty". Every call is bounded: a store that hangs
    raises TimeoutError.
    """

    def entries(self, path: str) -> tuple[FileEntry, ...]:
        """What lies in a folder, sorted by name: one delimited listing, never a walk."""

    def names(self, path: str) -> tuple[str, ...]:
        """The names in a folder, folders with a trailing slash, sorted."""

    def read(self, path: str) -> bytes:
        """The whole content of a file."""

    def end(self, path: str, count: int) -> bytes:
        """The last `count` bytes of a file, or all of a shorter one."""

    def modified(self, path: str) -> datetime | None:
        """When a file last changed, by the store's clock; None if it reports none."""

    def generation(self, path: str) -> str:
        """The store's own word for this content of a file: it changes whenever the file is written
        again.
        """

    def digests(
        self, folder: str, names: Sequence[str], previous: Mapping[str, FileDigest]
    ) -> Iterator[int | FileDigest]:
        """The digest of each of these files, as soon as there is one; in between, how many bytes
        were read since.

        A file with the stamp that it has in `previous` is not read again. One that changes
        meanwhile raises OSError.
        """

    def region(self, root: str) -> str | None:
        """Where a root lies; None if the store does not report it."""

    def rules(self, root: str) -> tuple[LifecycleRule, ...]:
        """Rules of the store that delete or lock what lies under a root; OSError if this login may
        not read them.
        """

    def create(self, path: str, data: bytes) -> None:
        """Write a new file whole; refuse an existing one."""

    def swap(self, path: str, before: bytes, after: bytes) -> bool:
        """Replace a file's content only if it is still `before`; returns whether it was."""

    def delete(self, path: str) -> None:
        """Delete one file. What is not a file is never deleted: a folder raises OSError."""

    def delete_folder(self, path: str) -> None:
        """Delete a folder that holds nothing; OSError where it holds something. On an object store
        there may be none.
        """

    def probe(self, root: str) -> None:
        """Write, list, rename and delete under `_herorun/` of the root; OSError says what
        failed.
        """


@runtime_checkable
class Measured(Protocol):
    """A store that can also report the free space on the disk of a path."""

    def room(self, path: str) -> tuple[int, int, int | None]:
        """Free and all bytes of the disk, and the names that it still has room for (None: it does
        not count them).
        """


class Layout(Protocol):
    """How a trainer lays out its checkpoints in a root."""

    def listed(self, store: Store, root: str, temporary: bool) -> tuple[Candidate, ...]:
        """Every checkpoint under a root by one delimited listing, unexamined and ordered by step.

        A name that is nearly a checkpoint's, such as `step-1000.bak`, is there with its problem,
        examined.
        """

    def examined(self, store: Store, candidate: Candidate) -> Candidate | None:
        """The same candidate, looked into by as few requests as it takes; None if it is gone
        meanwhile.
        """

    def dated(self, store: Store, candidate: Candidate) -> Candidate:
        """The same candidate with the time of its newest file, by one listing and without looking
        into it.
        """

    def candidates(self, store: Store, root: str, temporary: bool) -> tuple[Candidate, ...]:
        """Every checkpoint under a root, every one examined: for retention, never for a look at the
        newest.
        """

    def final(self, root: str, step: int) -> str:
        """The path of the checkpoint of a step."""
