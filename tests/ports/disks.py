"""Roots on real stores for the tests of checkpoints: what a trainer writes there, what prunes it,
and who counts.
"""

import shutil
import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from herorun.core.ports import FileEntry, Layout, Place, Store
from herorun.stores import local, memory

PLACE = Place("tiny", "state", "/data/tiny", ".")


class Trainer(Protocol):
    """What a trainer writes. A path of "" is the checkpoint itself, where it is one file."""

    layout: Layout

    def name(self, step: int) -> str: ...

    def files(self, step: int, *, temporary: bool, is_complete: bool) -> Mapping[str, bytes]:
        """Inside the checkpoint; unfinished as if it was killed."""

    def beside(self, step: int, *, is_complete: bool) -> Mapping[str, bytes]:
        """In the root."""


class Disk:
    """A store, a root on it that does not exist yet, and what a trainer and its pruning do
    there.
    """

    store: Store
    root: str

    def write(self, path: str, data: bytes) -> None: ...

    def prune(self, path: str) -> None: ...

    def save(
        self, trainer: Trainer, step: int, temporary: bool = False, is_complete: bool = True
    ) -> str:
        path = self.save_as(trainer, trainer.name(step), step, temporary, is_complete)
        for name, data in trainer.beside(step, is_complete=is_complete).items():
            self.write(f"{self.root}/{name}", data)
        return path

    def save_as(
        self,
        trainer: Trainer,
        name: str,
        step: int,
        temporary: bool = False,
        is_complete: bool = True,
    ) -> str:
        """Under another name, as a person who copies it."""
        path = f"{self.root}/{name}"
        for inside, data in trainer.files(
            step, temporary=temporary, is_complete=is_complete
        ).items():
            self.write(f"{path}/{inside}" if inside else path, data)
        return path


class LocalDisk(Disk):
    def __init__(self, home: Path) -> None:
        self.root = str(home / "with space" / "ünï\nline")
        self.store = local.connect(local.Options(), PLACE)

    def write(self, path: str, data: bytes) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(data)

    def prune(self, path: str) -> None:
        shutil.rmtree(path) if Path(path).is_dir() else Path(path).unlink()


class MemoryDisk(Disk):
    def __init__(self) -> None:
        from fsspec.implementations.memory import MemoryFileSystem

        self.root = f"memory://bench-{uuid.uuid4().hex}/checkpoints"
        self.store = memory.connect(memory.Options(), PLACE)
        self._files = MemoryFileSystem(skip_instance_cache=True)

    def write(self, path: str, data: bytes) -> None:
        self._files.pipe_file(path.removeprefix("memory:/"), data)

    def prune(self, path: str) -> None:
        self._files.rm(path.removeprefix("memory:/"), recursive=True)


class Through:
    """A store seen through something: every call is counted, and `before` may act first or
    raise.
    """

    def __init__(
        self, store: Store, before: Callable[[str, str], None] = lambda call, path: None
    ) -> None:
        self._store, self._before = store, before
        self.calls: list[tuple[str, str]] = []

    def __getattr__(self, name: str) -> Any:
        def call(path: str, *arguments: Any) -> Any:
            self._before(name, path)
            self.calls.append((name, path))
            return getattr(self._store, name)(path, *arguments)

        return call


class Untimed(Through):
    """A store that does not tell when a folder changed, as object stores do not."""

    def entries(self, path: str) -> tuple[FileEntry, ...]:
        entries = self._store.entries(path)
        return tuple(
            FileEntry(e.name, None if e.name.endswith("/") else e.modified, e.size) for e in entries
        )


class Timeless(Through):
    """A store that tells no time of anything."""

    def entries(self, path: str) -> tuple[FileEntry, ...]:
        return tuple(FileEntry(e.name, None, e.size) for e in self._store.entries(path))


class Listed(Through):
    """A root in which further folders are listed; whoever looks into one finds that it is gone."""

    def __init__(self, store: Store, root: str, names: Iterable[str]) -> None:
        super().__init__(store)
        self._root, self._names = root, tuple(names)

    def entries(self, path: str) -> tuple[FileEntry, ...]:
        self.calls.append(("entries", path))
        entries = {entry.name: entry for entry in self._store.entries(path)}
        if path == self._root:
            entries |= {name: FileEntry(name) for name in self._names}
        return tuple(entries[name] for name in sorted(entries))
