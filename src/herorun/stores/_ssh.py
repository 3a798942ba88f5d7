"""Files on the machine where the job runs, over its scheduler's transport: one round trip per
query.

A machine that cannot be reached raises an OSError with its reason: its content is then unknown,
never "not there".
"""

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.ports import FileDigest, FileEntry, LifecycleRule
from herorun.core.redaction.scrub import scrub
from herorun.core.remote.target import RemoteTarget
from herorun.stores import _posix_files, _ssh_remote
from herorun.stores._computed_digests import as_digests, stamps
from herorun.system import _parallel_sha256, _regular_file, _remote_agent
from herorun.system.remote_python import RemoteProgram, own_file, readable, remote_to

T = TypeVar("T")
_SHARED_MODULES = (own_file(_remote_agent), own_file(_regular_file))
THERE = RemoteProgram((*_SHARED_MODULES, own_file(_posix_files), own_file(_ssh_remote)))
DIGESTING = RemoteProgram((*_SHARED_MODULES, own_file(_parallel_sha256)))
SILENT = (
    _parallel_sha256.STALL_TIMEOUT + 10
)  # seconds: the machine itself reports a hanging disk before


class OverSsh:
    """See `core.ports.Store`; names that are not UTF-8 are kept by surrogate escapes."""

    def __init__(self, reach: RemoteTarget) -> None:
        self._remote = remote_to(reach)
        self._within = reach.timeout

    def entries(self, path: str) -> tuple[FileEntry, ...]:
        return self._ask("entries", path, _entries)

    def names(self, path: str) -> tuple[str, ...]:
        return tuple(entry.name for entry in self.entries(path))

    def read(self, path: str) -> bytes:
        return self._ask("read", path, base64.b64decode)

    def end(self, path: str, count: int) -> bytes:
        return self._ask("end", path, base64.b64decode, count=count)

    def modified(self, path: str) -> datetime:
        return self._ask("modification_time", path, _moment_of_seconds)

    def generation(self, path: str) -> str:
        return self._ask("generation", path, str)

    def digests(
        self, folder: str, names: Sequence[str], previous: Mapping[str, FileDigest]
    ) -> Iterator[int | FileDigest]:
        """The remote machine hashes its own files, so only digests are transferred."""
        _must_be_path(folder)
        question_fields = {
            "folder": folder,
            "names": list(names),
            "cached_digests": stamps(previous),
        }
        try:
            with readable(self._remote.transport.where):
                yield from as_digests(
                    self._remote.stream(DIGESTING, "digests", SILENT, **question_fields)
                )
        except CouldNotLook as error:
            raise ConnectionError(str(error)) from None

    def region(self, root: str) -> None:
        """None: the region of a remote machine is unknown."""
        _must_be_path(root)

    def rules(self, root: str) -> tuple[LifecycleRule, ...]:
        _must_be_path(root)
        return ()

    def create(self, path: str, data: bytes) -> None:
        self._ask("create", path, bool, data=_remote_agent.encode_bytes(data))

    def swap(self, path: str, before: bytes, after: bytes) -> bool:
        contents = {
            "before": _remote_agent.encode_bytes(before),
            "after": _remote_agent.encode_bytes(after),
        }
        return self._ask("swap", path, bool, **contents)

    def delete(self, path: str) -> None:
        self._ask("delete", path, bool)

    def delete_folder(self, path: str) -> None:
        self._ask("delete_folder", path, bool)

    def probe(self, root: str) -> None:
        """Write a test file on the remote machine under its own user, as the job will."""
        _must_be_path(root)
        self._ask_remote("probe", bool, root=root)

    def room(self, path: str) -> tuple[int, int, int | None]:
        """Free and all bytes of the disk, and the names that it still has room for (None: it does
        not count them).
        """
        return self._ask("room", path, _parse_room)

    def _ask(self, question: str, path: str, form: Callable[[Any], T], **question_fields: Any) -> T:
        _must_be_path(path)
        return self._ask_remote(question, form, path=path, **question_fields)

    def _ask_remote(self, question: str, form: Callable[[Any], T], **fields: Any) -> T:
        try:
            answer = self._remote.ask(THERE, question, self._within, **fields)
            with readable(self._remote.transport.where):
                return form(answer)
        except CouldNotLook as error:
            raise ConnectionError(str(error)) from None


def _entries(answer: Any) -> tuple[FileEntry, ...]:
    entries = [
        FileEntry(
            _check_text(name),
            _moment_of_seconds(time),
            None if size is None else int(size),
            bool(link),
        )
        for name, time, size, link in answer
    ]
    return tuple(sorted(entries, key=lambda entry: entry.name))


def _check_text(answer: Any) -> str:
    if not isinstance(answer, str):
        raise TypeError
    return answer


def _parse_room(answer: Any) -> tuple[int, int, int | None]:
    free, size, names = answer
    return int(free), int(size), None if names is None else int(names)


def _moment_of_seconds(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _must_be_path(path: str) -> None:
    if not path or "\0" in path or "://" in path:
        raise WrongUse(
            f"{scrub(path)!r} is not a path: on a remote machine, a root must be an absolute path."
        )
