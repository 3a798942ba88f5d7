"""One store for every path: each call goes to the store of its scheme, which is connected at its
first use.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from herorun import adapters
from herorun.core.ports import FileDigest, FileEntry, LifecycleRule, Measured, Place, Store

if TYPE_CHECKING:
    from herorun.core.doctor_report import DoctorPart


class RoutedStore:
    """See `core.ports.Store`. A path without a scheme is a path of the machine where the job
    runs.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._stores: dict[str, Store] = {}

    def entries(self, path: str) -> tuple[FileEntry, ...]:
        return self._of(path).entries(path)

    def names(self, path: str) -> tuple[str, ...]:
        return self._of(path).names(path)

    def read(self, path: str) -> bytes:
        return self._of(path).read(path)

    def end(self, path: str, count: int) -> bytes:
        return self._of(path).end(path, count)

    def modified(self, path: str) -> datetime | None:
        return self._of(path).modified(path)

    def generation(self, path: str) -> str:
        return self._of(path).generation(path)

    def digests(
        self, folder: str, names: Sequence[str], previous: Mapping[str, FileDigest]
    ) -> Iterator[int | FileDigest]:
        return self._of(folder).digests(folder, names, previous)

    def region(self, root: str) -> str | None:
        return self._of(root).region(root)

    def rules(self, root: str) -> tuple[LifecycleRule, ...]:
        return self._of(root).rules(root)

    def create(self, path: str, data: bytes) -> None:
        self._of(path).create(path, data)

    def swap(self, path: str, before: bytes, after: bytes) -> bool:
        return self._of(path).swap(path, before, after)

    def delete(self, path: str) -> None:
        self._of(path).delete(path)

    def delete_folder(self, path: str) -> None:
        self._of(path).delete_folder(path)

    def probe(self, root: str) -> None:
        self._of(root).probe(root)

    def room(self, path: str) -> tuple[int, int, int | None]:
        """Free and all bytes, and free names, on the disk of a path of another machine; for its
        store alone.
        """
        store = self._of(path)
        if not isinstance(store, Measured):
            raise OSError(f"the store of {path} does not report its free space")
        return store.room(path)

    def examine(self, root: str) -> "tuple[DoctorPart, ...]":
        """What its store says of its own surroundings; nothing from one that has none."""
        from herorun.core.doctor_report import ExaminesItself

        store = self._of(root)
        return store.examine() if isinstance(store, ExaminesItself) else ()

    def _of(self, path: str) -> Store:
        """Sources ask all at once; of two that connect at the same time, the second is kept, and
        they are alike.
        """
        scheme, separator, _ = path.partition("://")
        kind = scheme if separator else "local"
        if kind not in self._stores:
            self._stores[kind] = adapters.connect("stores", kind, {}, self._place)
        return self._stores[kind]
