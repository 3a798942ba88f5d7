"""The store port on top of an object store: whole objects, preconditions and delimited listings."""

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from herorun.core.doctor_report import DoctorPart, ExaminesItself
from herorun.core.errors import WrongUse
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import FileDigest, FileEntry, LifecycleRule
from herorun.core.redaction.scrub import scrub
from herorun.stores._fsspec import WriteRefused
from herorun.stores._objects import ObjectPath, Objects
from herorun.stores._write_probe import OWN, clean, demand, try_step

REQUESTS = 16  # at once, where each object is asked for its checksums
_PINNED_PATH = lazy_regex(r"(?P<path>.+)#(?P<generation>[0-9]{10,})")


class ObjectStore:
    """See `core.ports.Store`. Folders are what lies under a prefix, so an empty one does not
    exist.
    """

    def __init__(self, objects: Objects) -> None:
        self.objects = objects

    def examine(self) -> tuple[DoctorPart, ...]:
        """What the store says of its login, for `herorun doctor`; nothing where it has none."""
        return self.objects.examine() if isinstance(self.objects, ExaminesItself) else ()

    def entries(self, path: str) -> tuple[FileEntry, ...]:
        at = self._at(path)
        entries_there = self._list_entries(at)
        if not entries_there and at.key:
            self._missing(at)
        inside = [
            replace(entry, name=entry.name.removeprefix(at.prefix)) for entry in entries_there
        ]
        return tuple(
            sorted((entry for entry in inside if entry.name), key=lambda entry: entry.name)
        )

    def names(self, path: str) -> tuple[str, ...]:
        return tuple(entry.name for entry in self.entries(path))

    def read(self, path: str) -> bytes:
        return self.objects.read(self._at(path))[0]

    def end(self, path: str, count: int) -> bytes:
        at = self._at(path)
        if count > 0:
            return self.objects.read(at, count)[0]
        self.objects.facts(at)
        return b""

    def modified(self, path: str) -> datetime | None:
        return self.objects.facts(self._at(path)).modified

    def generation(self, path: str) -> str:
        return self.objects.facts(self._at(path)).generation

    def digests(
        self, folder: str, names: Sequence[str], previous: Mapping[str, FileDigest]
    ) -> Iterator[int | FileDigest]:
        """One request for each object, several in parallel. There are no stamps, because checking
        them would cost as much.
        """
        from concurrent.futures import ThreadPoolExecutor

        at = self._at(folder)

        def ask(name: str) -> FileDigest:
            return replace(self.objects.digest(at.sibling(name)), name=name)

        pool = ThreadPoolExecutor(REQUESTS)
        try:
            yield from pool.map(ask, names)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def region(self, root: str) -> str | None:
        return self.objects.region(self._at(root))

    def rules(self, root: str) -> tuple[LifecycleRule, ...]:
        return self.objects.rules(self._at(root))

    def create(self, path: str, data: bytes) -> None:
        at = self._writable(path)
        try:
            self.objects.put(at, data, None)
        except WriteRefused as refusal:
            if not (refusal.ours and self.objects.read(at)[0] == data):
                raise FileExistsError(f"{scrub(str(at))} is there already") from None

    def swap(self, path: str, before: bytes, after: bytes) -> bool:
        """The store compares the tag of the read content in the same request that writes."""
        at = self._writable(path)
        now, tag = self.objects.read(at)
        if now != before:
            return False
        try:
            self.objects.put(at, after, tag)
        except WriteRefused as refusal:
            return refusal.ours and self.objects.read(at)[0] == after
        return True

    def delete(self, path: str) -> None:
        """Queries the object first: some stores report no error for a missing object, so a wrong
        path would pass.
        """
        at = self._writable(path)
        self.objects.facts(at)
        self.objects.delete(at)

    def delete_folder(self, path: str) -> None:
        """Only a folder's own marker, which some tools write, is there to be deleted."""
        at = self._writable(path)
        entries_there = self._list_entries(at)
        if any(entry.name != at.prefix for entry in entries_there):
            raise OSError(scrub(f"{at} is not empty"))
        if entries_there:
            self.objects.delete(replace(at, key=at.prefix))

    def probe(self, root: str) -> None:
        """Also fails for a store that ignores preconditions, because the lease needs them."""
        home = self._writable(root).sibling(OWN)
        file = home.sibling(f"probe-{uuid.uuid4().hex}")
        new_file, data = replace(file, key=f"{file.key}-renamed"), file.key.encode()
        steps: tuple[tuple[str, Callable[[], object]], ...] = (
            ("write", lambda: self.objects.put(file, data, None)),
            ("list", lambda: demand(self._lists(home, file), "a new file is not listed")),
            (
                "read",
                lambda: demand(
                    self._reads(file) == data, "other bytes came back than were written"
                ),
            ),
            (
                "lock",
                lambda: demand(
                    self._locks(file), "the store overwrites an object that it must keep"
                ),
            ),
            ("rename", lambda: self._renames(file, new_file)),
            ("delete", lambda: self.objects.delete(new_file)),
        )
        steps_done = 0
        try:
            for word, act in steps:
                try_step(word, root, act)
                steps_done += 1
        finally:
            if 0 < steps_done < len(steps):
                clean(lambda: self.objects.delete(file), lambda: self.objects.delete(new_file))

    def _lists(self, home: ObjectPath, file: ObjectPath) -> bool:
        return any(entry.name == file.key for entry in self.objects.list_entries(home))

    def _reads(self, file: ObjectPath) -> bytes:
        return self.objects.read(file)[0]

    def _renames(self, file: ObjectPath, new_file: ObjectPath) -> None:
        self.objects.copy(file, new_file)
        self.objects.delete(file)

    def _locks(self, file: ObjectPath) -> bool:
        """Whether the store refuses to overwrite a file by a wrong precondition."""
        data, tag = self.objects.read(file)
        self.objects.put(file, data + b"!", tag)
        return all(self._refuses(file, data, stale) for stale in (None, tag))

    def _refuses(self, file: ObjectPath, data: bytes, tag: str | None) -> bool:
        try:
            self.objects.put(file, data, tag)
        except WriteRefused:
            return True
        return False

    def _list_entries(self, at: ObjectPath) -> list[FileEntry]:
        """The entries. A folder without objects is empty; "not found" means a missing bucket, and
        raises.
        """
        try:
            return self.objects.list_entries(at)
        except FileNotFoundError:
            bucket = f"{at.scheme}://{at.bucket}"
            raise OSError(
                scrub(f"{at}: {bucket} is not a bucket, or these credentials may not see it")
            ) from None

    def _missing(self, at: ObjectPath) -> None:
        """Nothing lies under a prefix: say whether a file stands there instead."""
        try:
            self.objects.facts(at)
        except FileNotFoundError:
            raise FileNotFoundError(f"{scrub(str(at))} is not there") from None
        raise NotADirectoryError(f"{scrub(str(at))} is a file and not a folder")

    def _writable(self, path: str) -> ObjectPath:
        at = self._at(path)
        if at.generation:
            raise WrongUse(
                f"{scrub(path)} names one generation of a file, which cannot be overwritten: omit "
                "the generation."
            )
        return at

    def _at(self, path: str) -> ObjectPath:
        scheme, separator, key_path = path.partition("://")
        if not separator or scheme != self.objects.scheme or "\0" in path:
            raise WrongUse(f"{scrub(path)!r} is not a path of the store `{self.objects.scheme}`.")
        pinned_path = _PINNED_PATH.fullmatch(key_path) if self.objects.keeps_generations else None
        parts = [
            part for part in (pinned_path["path"] if pinned_path else key_path).split("/") if part
        ]
        if self.objects.has_buckets and not parts:
            raise WrongUse(
                f"{scrub(path)!r} has no bucket: write {self.objects.scheme}://BUCKET/PATH."
            )
        bucket = parts.pop(0) if self.objects.has_buckets else ""
        return ObjectPath(
            scheme, bucket, "/".join(parts), pinned_path["generation"] if pinned_path else ""
        )
