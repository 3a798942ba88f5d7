"""Files on paths of this machine, network mounts included.

A read that hangs, as on a dead mount, is cut off by the deadline of `gather`.
"""

import contextlib
import os
import stat
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from errno import ELOOP
from pathlib import Path

from herorun.core.errors import WrongUse
from herorun.core.ports import AdapterOptions, FileDigest, FileEntry, LifecycleRule, Place, Store
from herorun.core.redaction.scrub import scrub
from herorun.system._regular_file import MOST_READ, open_regular
from herorun.system.files import create_atomic, read_regular, take_lock, write_atomic

LOCK_WAIT = 10.0  # seconds


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
        with os.scandir(_local(path)) as listing:
            entries = [entry for entry in map(_stat_entry, listing) if entry]
        return tuple(sorted(entries, key=lambda entry: entry.name))

    def names(self, path: str) -> tuple[str, ...]:
        with os.scandir(_local(path)) as entries:
            return tuple(
                sorted(f"{entry.name}/" if _is_folder(entry) else entry.name for entry in entries)
            )

    def read(self, path: str) -> bytes:
        """The content, up to a limit: a sparse file of gigabytes must not exhaust the memory."""
        return read_regular(_local(path), MOST_READ)

    def end(self, path: str, count: int) -> bytes:
        with open_regular(_local(path)) as checkpoint_file:
            checkpoint_file.seek(max(0, os.fstat(checkpoint_file.fileno()).st_size - count))
            return checkpoint_file.read(count)

    def modified(self, path: str) -> datetime:
        return _modified_at(_local(path).stat())

    def generation(self, path: str) -> str:
        """A path has no generations: facts that change at every write are used instead."""
        facts = _local(path).stat()
        return f"{facts.st_ino}-{facts.st_size}-{facts.st_mtime_ns}"

    def digests(
        self, folder: str, names: Sequence[str], previous: Mapping[str, FileDigest]
    ) -> Iterator[int | FileDigest]:
        from herorun.stores._computed_digests import as_digests, stamps
        from herorun.system import _parallel_sha256

        return as_digests(
            _parallel_sha256.digests(str(_local(folder)), list(names), stamps(previous))
        )

    def region(self, root: str) -> None:
        """A path is in this machine's region, which is unknown."""
        _local(root)

    def rules(self, root: str) -> tuple[LifecycleRule, ...]:
        _local(root)
        return ()

    def create(self, path: str, data: bytes) -> None:
        file = _local(path)
        _make_folder(file.parent)
        create_atomic(file, data)

    def swap(self, path: str, before: bytes, after: bytes) -> bool:
        """Safe between processes of this machine, and between machines where the file system
        carries flock.
        """
        file = _local(path)
        # a missing file is reported before a lock is made next to it
        mode = stat.S_IMODE(file.stat().st_mode)
        with _lock_of(file):
            if self.read(path) != before:
                return False
            write_atomic(file, after, mode)
            return True

    def delete(self, path: str) -> None:
        """Deletes a link itself, never its target."""
        os.unlink(_local(path))

    def delete_folder(self, path: str) -> None:
        os.rmdir(_local(path))

    def probe(self, root: str) -> None:
        from herorun.stores._write_probe import OWN, clean, demand, tried

        home = _local(root) / OWN
        file, new_file = (home / f"probe-{uuid.uuid4().hex}{end}" for end in ("", "-renamed"))
        data = file.name.encode()
        steps: tuple[tuple[str, Callable[[], object]], ...] = (
            ("write", lambda: create_atomic(file, data)),
            ("list", lambda: demand(file.name in os.listdir(home), "a new file is not listed")),
            (
                "read",
                lambda: demand(
                    file.read_bytes() == data, "other bytes came back than were written"
                ),
            ),
            ("rename", lambda: os.rename(file, new_file)),
            ("delete", lambda: os.unlink(new_file)),
        )
        with _probed_folder(home, root):
            try:
                for word, act in steps:
                    tried(word, root, act)
            finally:
                clean(
                    lambda: file.unlink(missing_ok=True), lambda: new_file.unlink(missing_ok=True)
                )


def _stat_entry(entry: os.DirEntry[str]) -> FileEntry | None:
    """None if it was removed since the listing: only a missing folder may raise "not there"."""
    try:
        if _is_folder(entry):
            return FileEntry(f"{entry.name}/", _modified_at(entry.stat()), link=entry.is_symlink())
        # a link to nowhere has only its own
        facts = entry.stat(follow_symlinks=os.path.exists(entry))
    except FileNotFoundError:
        return None
    return FileEntry(entry.name, _modified_at(facts), facts.st_size, entry.is_symlink())


def _modified_at(facts: os.stat_result) -> datetime:
    return datetime.fromtimestamp(facts.st_mtime, UTC)


@contextlib.contextmanager
def _probed_folder(home: Path, root: str) -> Iterator[None]:
    """The folder to probe in; taken away again if it was not there before."""
    from herorun.stores._write_probe import tried

    is_there = os.path.lexists(home)
    tried("make", root, lambda: _make_folder(home))
    try:
        yield
    finally:
        if not is_there:
            with contextlib.suppress(OSError):  # another process has begun to use it: it stays
                home.rmdir()


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """A link to a folder is one. A link that leads nowhere is none; one that cannot be followed
    raises.
    """
    try:
        return entry.is_dir()
    except OSError as error:
        if error.errno == ELOOP:
            return False
        raise


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:  # must not be taken for "the file is there already"
        raise NotADirectoryError(f"{folder} is a file and not a folder") from None


@contextlib.contextmanager
def _lock_of(file: Path) -> Iterator[None]:
    try:
        lock = take_lock(file.with_name(f".{file.name}.lock"), LOCK_WAIT, "another process")
    except WrongUse:
        raise TimeoutError(f"{file} stayed locked by another process for {LOCK_WAIT:g}s") from None
    try:
        yield
    finally:
        os.close(lock)


def _local(path: str) -> Path:
    if not path or "\0" in path or "://" in path:
        raise WrongUse(
            f"{scrub(path)!r} is not a local path, and the store `local` is for local paths only."
        )
    return Path(path)
