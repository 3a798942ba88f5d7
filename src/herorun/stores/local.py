"""Files on paths of this machine, network mounts included.

A read that hangs, as on a dead mount, is cut off by the deadline of `gather`.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from herorun.core.errors import WrongUse
from herorun.core.ports import AdapterOptions, FileDigest, FileEntry, LifecycleRule, Place, Store
from herorun.core.redaction.scrub import scrub
from herorun.stores import _posix_files
from herorun.system.files import create_atomic, write_atomic


class Options(AdapterOptions):
    pass


def connect(options: Options, place: Place) -> Store:
    """A path without a scheme is a path of the machine where the job runs."""
    if place.reach:
        from herorun.stores._ssh import OverSsh

        return OverSsh(place.reach)
    return LocalStore()


class LocalStore:
    """See `core.ports.Store`; names that are not UTF-8 are kept by surrogate escapes."""

    def entries(self, path: str) -> tuple[FileEntry, ...]:
        entries = [
            FileEntry(name, datetime.fromtimestamp(at, UTC), size, link)
            for name, at, size, link in _posix_files.list_entries(_local(path))
        ]
        return tuple(sorted(entries, key=lambda entry: entry.name))

    def names(self, path: str) -> tuple[str, ...]:
        return tuple(sorted(_posix_files.list_names(_local(path))))

    def read(self, path: str) -> bytes:
        return _posix_files.read_bytes(_local(path))

    def end(self, path: str, count: int) -> bytes:
        return _posix_files.read_end(_local(path), count)

    def modified(self, path: str) -> datetime:
        return datetime.fromtimestamp(os.stat(_local(path)).st_mtime, UTC)

    def generation(self, path: str) -> str:
        return _posix_files.generation(_local(path))

    def digests(
        self, folder: str, names: Sequence[str], previous: Mapping[str, FileDigest]
    ) -> Iterator[int | FileDigest]:
        from herorun.stores._computed_digests import as_digests, stamps
        from herorun.system import _parallel_sha256

        return as_digests(_parallel_sha256.digests(_local(folder), list(names), stamps(previous)))

    def region(self, root: str) -> None:
        """A path is in this machine's region, which is unknown."""
        _local(root)

    def rules(self, root: str) -> tuple[LifecycleRule, ...]:
        _local(root)
        return ()

    def create(self, path: str, data: bytes) -> None:
        """As all that herorun writes here: leftovers are swept, and a full disk gives up the
        reserve.
        """
        _posix_files.create_bytes(
            _local(path), data, lambda file, content: create_atomic(Path(file), content)
        )

    def swap(self, path: str, before: bytes, after: bytes) -> bool:
        return _posix_files.swap_bytes(
            _local(path),
            before,
            after,
            lambda file, content, mode: write_atomic(Path(file), content, mode),
        )

    def delete(self, path: str) -> None:
        """Deletes a link itself, never its target."""
        os.unlink(_local(path))

    def delete_folder(self, path: str) -> None:
        os.rmdir(_local(path))

    def probe(self, root: str) -> None:
        _posix_files.probe(_local(root))


def _local(path: str) -> str:
    if not path or "\0" in path or "://" in path:
        raise WrongUse(
            f"{scrub(path)!r} is not a local path, and the store `local` is for local paths only."
        )
    return path
