"""Files in this process's memory, by fsspec: `memory://path`. For tests; other processes do not see
them.
"""

import hashlib
from threading import Lock
from typing import Any

from herorun.core.ports import AdapterOptions, FileDigest, FileEntry, LifecycleRule, Place, Store
from herorun.stores._fsspec import WriteRefused
from herorun.stores._object_store import ObjectStore
from herorun.stores._objects import ObjectFacts, ObjectPath

_lock = Lock()  # all instances share one memory


class Options(AdapterOptions):
    pass


def connect(options: Options, place: Place) -> Store:
    return ObjectStore(MemoryObjects())


class MemoryObjects:
    """See `_objects.Objects`. The tag of a file is when it was written."""

    scheme = "memory"
    has_buckets = False
    keeps_generations = False

    def list_entries(self, at: ObjectPath) -> list[FileEntry]:
        files = _open_file_system()
        with _lock:
            try:
                infos = files.ls(f"/{at.key}", detail=True)
            except FileNotFoundError:
                return []
            except ValueError as error:  # other code closed the file there
                raise OSError(f"{at}: {error}") from None
            return [_memory_entry(files, info) for info in infos if info["name"] != f"/{at.key}"]

    def facts(self, at: ObjectPath) -> ObjectFacts:
        files = _open_file_system()
        with _lock:
            modified_at = _file(files, at).modified
        return ObjectFacts(modified_at.isoformat(), modified_at.isoformat(), modified_at)

    def digest(self, at: ObjectPath) -> FileDigest:
        data = self.read(at)[0]
        return FileDigest(at.key, len(data), f"sha256:{hashlib.sha256(data).hexdigest()}")

    def read(self, at: ObjectPath, last: int | None = None) -> tuple[bytes, str]:
        files = _open_file_system()
        with _lock:
            file = _file(files, at)
            data: bytes = _read_buffer(file, at)
            return data[-last:] if last else data, file.modified.isoformat()

    def put(self, at: ObjectPath, data: bytes, tag: str | None) -> None:
        files = _open_file_system()
        with _lock:
            _no_file_above(files, at)
            object_text = files.store.get(f"/{at.key}")
            if (object_text.modified.isoformat() if object_text else None) != tag:
                raise WriteRefused(ours=False)
            files.pipe_file(f"/{at.key}", data)

    def copy(self, at: ObjectPath, to: ObjectPath) -> None:
        self.put(to, self.read(at)[0], None)

    def delete(self, at: ObjectPath) -> None:
        files = _open_file_system()
        with _lock:
            _file(files, at)
            files.rm_file(f"/{at.key}")

    def region(self, at: ObjectPath) -> None:
        """It lies where this process runs."""

    def rules(self, at: ObjectPath) -> tuple[LifecycleRule, ...]:
        return ()


def _open_file_system() -> Any:
    from fsspec.implementations.memory import MemoryFileSystem

    return MemoryFileSystem(skip_instance_cache=True)


def _file(files: Any, at: ObjectPath) -> Any:
    try:
        return files.store[f"/{at.key}"]
    except KeyError:
        raise FileNotFoundError(f"{at} is not there") from None


def _read_buffer(file: Any, at: ObjectPath) -> bytes:
    try:
        return bytes(file.getvalue())
    except ValueError as error:  # other code closed it
        raise OSError(f"{at}: {error}") from None


def _memory_entry(files: Any, info: dict[str, Any]) -> FileEntry:
    key = info["name"].removeprefix("/")
    if info["type"] == "directory":
        return FileEntry(f"{key}/")
    return FileEntry(key, files.store[info["name"]].modified, info["size"])


def _no_file_above(files: Any, at: ObjectPath) -> None:
    parts = at.key.split("/")
    for count in range(1, len(parts)):
        above = "/" + "/".join(parts[:count])
        if above in files.store:
            raise NotADirectoryError(f"memory:/{above} is a file and not a folder")
