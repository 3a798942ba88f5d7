"""Commits by writing git's files ourselves: a tick commits several times, and each git process
costs more than all else in it.

Only the plain case is ours: a ref that has a file of its own, on a commit whose trees are loose, in
a repository that keeps refs as files. Everything else is `NotLoose`: then git does it. Objects
and their names reach the disk before the ref that names them, and the ref moves under git's own
lock, by compare-and-swap.
"""

import contextlib
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path

from herorun.core.canonical_json import sha1, sha256
from herorun.core.errors import CouldNotLook, describe_error
from herorun.core.lazy_dataclass import dataclass
from herorun.system.files import sync_folder
from herorun.system.git.loose_objects import SMALL, TREE, LooseObjects, NotLoose, Row
from herorun.system.git.repository import Repository

FILE = "100644"
MAX_OPEN = 64  # new files at once
_ODD = ("", ".", "..")
_MODES = (FILE, TREE, "100664", "100755", "120000", "160000")  # that git gives a tree's entries


class StaleRef(Exception):
    """The ref is not where the caller saw it."""


@dataclass(frozen=True)
class _OpenFile:
    """A new object, whole in its temporary file, which may not be on the disk yet."""

    temporary: str
    descriptor: int


@dataclass(frozen=True)
class _NewObjects:
    """What is written for one commit: brought to the disk together, which takes less than one after
    another, and named after that. `close` removes what has no name yet.
    """

    loose: LooseObjects
    width: int  # of a digest, in hexadecimal digits
    _folders: set[str] = field(default_factory=set)  # in which new names must be synced
    _unnamed: dict[str, _OpenFile] = field(default_factory=dict)  # by the path of the object
    _contents: list[tuple[str, str | tuple[Row, ...]]] = field(default_factory=list)

    def write(self, kind: bytes, body: bytes) -> str:
        """Write an object, and return its name, which it has after `name_all`; one that is there is
        left, if it is what it says.
        """
        content = b"%s %d\0%s" % (kind, len(body), body)
        sha = sha1 if self.width == 40 else sha256
        oid = sha(content).hexdigest()
        folder = f"{self.loose.store}/{oid[:2]}"
        path = f"{folder}/{oid[2:]}"
        if path in self._unnamed:
            return oid
        # both: the process that made the folder or the object may not have synced it
        self._folders.update((self.loose.store, folder))
        if os.path.exists(path):  # a tick writes six new ones: to try and fail takes longer
            with contextlib.suppress(NotLoose, OSError):
                self.loose.content(oid, kind, None)
                _freshen(path)
                return oid
        if len(self._unnamed) >= MAX_OPEN:
            self._name_files()
        self._write_unnamed(folder, path, zlib.compress(content, 1))
        return oid

    def note(self, oid: str, content: str | tuple[Row, ...]) -> None:
        """What was written under that name: see `LooseObjects.note_written`."""
        self._contents.append((oid, content))

    def name_all(self) -> None:
        """Give all their names, durably. All folders in the end: the first sync often writes what
        the others would.
        """
        self._name_files()
        for folder in sorted(self._folders):
            sync_folder(folder)
        for oid, content in self._contents:
            self.loose.note_written(oid, content)

    def close(self) -> None:
        while self._unnamed:
            _, file = self._unnamed.popitem()
            try:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(file.temporary)
            finally:
                os.close(file.descriptor)

    def _write_unnamed(self, folder: str, path: str, data: bytes) -> None:
        temporary = f"{folder}/tmp_obj_{os.urandom(6).hex()}"
        try:
            descriptor = _create(temporary)
        except FileNotFoundError:  # one of 256, so it is there soon
            os.makedirs(folder, exist_ok=True)
            descriptor = _create(temporary)
        self._unnamed[path] = _OpenFile(temporary, descriptor)
        _write_all(descriptor, data)

    def _name_files(self) -> None:
        """Each is on the disk before it has its name."""
        for file in self._unnamed.values():
            _begin_sync(file.descriptor)
        for file in self._unnamed.values():
            os.fsync(file.descriptor)
        for path, file in list(self._unnamed.items()):
            # while it is open, so that no sweep takes it for a leftover
            os.rename(file.temporary, path)
            del self._unnamed[path]
            os.close(file.descriptor)


@dataclass
class _Folder:
    """What changes in one folder: files by name, and the folders below it."""

    files: dict[str, bytes] = field(default_factory=dict)
    folders: "dict[str, _Folder]" = field(default_factory=dict)


def commit_directly(
    repository: Repository,
    ref: str,
    parent: str,
    files: Mapping[str, bytes],
    message: bytes,
    identity: bytes,
) -> str:
    """Put files on top of `parent` and move `ref` there, only if it is still there; durable on
    return. `identity` is the line of author and committer, with the time.

    `StaleRef` where the ref has moved; `NotLoose` or OSError where nothing was changed and git
    must do it.
    """
    _must_be_plain(repository, ref)
    objects = _NewObjects(LooseObjects(f"{repository.common}/objects"), len(parent))
    with contextlib.closing(objects):
        tree = _write_tree(objects, _nest_files(files), objects.loose.top(parent))
        lines = (
            b"tree " + tree.encode(),
            b"parent " + parent.encode(),
            b"author " + identity,
            b"committer " + identity,
            b"",
            message,
        )
        commit = objects.write(b"commit", b"\n".join(lines))
        objects.note(commit, tree)
        objects.name_all()
    _swap(repository, ref, commit, parent)
    return commit


def move_directly(repository: Repository, ref: str, new: str, old: str) -> None:
    """Point a ref at a commit that is here, only if it is still at `old`; durable on return.

    `StaleRef` where the ref has moved; `NotLoose` or OSError where nothing was changed and git
    must do it.
    """
    _must_be_plain(repository, ref)
    LooseObjects(f"{repository.common}/objects").top(new)
    _swap(repository, ref, new, old)


def _must_be_plain(repository: Repository, ref: str) -> None:
    """Refs in files, objects of one format, no log of this ref, and no permissions that git would
    set.
    """
    version, storage, compatible, permissions, logs = repository.settings(
        "core.repositoryFormatVersion",
        "extensions.refStorage",
        "extensions.compatObjectFormat",
        "core.sharedRepository",
        "core.logAllRefUpdates",
    )
    if (
        # git reads no settings of a repository that it refuses: of an unknown kind, or another
        # user's
        version not in ("0", "1")
        or (storage or "files") != "files"
        or compatible
        or permissions
        or (logs or "").lower() == "always"
        or os.path.lexists(f"{repository.common}/logs/{ref}")
    ):
        raise NotLoose(ref)


def _nest_files(files: Mapping[str, bytes]) -> _Folder:
    top = _Folder()
    for path, data in files.items():
        *folders, name = path.split("/")
        odd = (part in _ODD or part.lower().startswith(".git") for part in (*folders, name))
        if any(odd) or "\0" in path:
            raise NotLoose(path)
        at = top
        for part in folders:
            at = at.folders.setdefault(part, _Folder())
        at.files[name] = data
    return top


def _write_tree(objects: _NewObjects, changes: _Folder, oid: str | None) -> str:
    """The folder `oid` with what is changed in it; None is a new one."""
    rows = _read_rows(objects.loose, oid) if oid else {}
    for name, data in changes.files.items():
        _must_be(rows.get(name), folder=False)
        rows[name] = (FILE, objects.write(b"blob", data), name)
    for name, folder in changes.folders.items():
        below = _must_be(rows.get(name), folder=True)
        if name in changes.files:
            raise NotLoose(name)
        rows[name] = (TREE, _write_tree(objects, folder, below and below[1]), name)
    entries = sorted(rows.values(), key=_sort_key)
    tree = objects.write(b"tree", b"".join(map(_entry, entries)))
    if len(entries) <= SMALL:
        objects.note(tree, tuple(entries))
    return tree


def _read_rows(loose: LooseObjects, oid: str) -> dict[str, Row]:
    """By name; what no git writes, as a name twice or another mode, is git's matter."""
    entries = loose.tree(oid)
    rows = {row[2]: row for row in entries}
    if len(rows) < len(entries) or any(row[0] not in _MODES for row in entries):
        raise NotLoose(oid)
    return rows


def _must_be(row: Row | None, folder: bool) -> Row | None:
    """A file that becomes a folder, a link or a program is git's matter."""
    if row is not None and row[0] != (TREE if folder else FILE):
        raise NotLoose(row[2])
    return row


def _sort_key(row: Row) -> bytes:
    """git sorts a folder as if its name ended with a slash."""
    return row[2].encode("utf-8", "surrogateescape") + (b"/" if row[0] == TREE else b"")


def _entry(row: Row) -> bytes:
    mode, oid, name = row
    data = name.encode("utf-8", "surrogateescape")
    return b"%s %s\0%s" % (mode.lstrip("0").encode(), data, bytes.fromhex(oid))


def _write_all(descriptor: int, data: bytes) -> None:
    remaining = memoryview(data)
    while remaining:
        remaining = remaining[os.write(descriptor, remaining) :]


def _create(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)


def _begin_sync(descriptor: int) -> None:
    """Let the system begin to write the file to the disk, where it can: then one sync often brings
    all files there that were begun.
    """
    with contextlib.suppress(AttributeError, OSError):
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def _freshen(path: str) -> None:
    """It is in use, and not to be pruned, as git marks it; and on the disk: git does not sync the
    user's own loose objects.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.utime(path)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _swap(repository: Repository, ref: str, new: str, old: str) -> None:
    """Under the lock that git takes too: it moves, packs or deletes no ref whose lock is held."""
    path = repository.common / ref
    # opened first: git removes a folder whose refs it has packed
    folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with _ref_lock(path) as (lock, descriptor):
            _must_be_unmoved(repository, ref, old)
            _write_all(descriptor, new.encode() + b"\n")
            os.fsync(descriptor)
            os.rename(lock, path)
        _sync_moved(ref, folder)
    finally:
        os.close(folder)


def _sync_moved(ref: str, folder: int) -> None:
    try:
        os.fsync(folder)
    except OSError as error:  # it has moved: git must not do it again
        raise CouldNotLook(f"{ref} may not be on the disk yet: {describe_error(error)}") from None


def _must_be_unmoved(repository: Repository, ref: str, old: str) -> None:
    current = repository.loose(ref)
    if current is None:
        raise NotLoose(ref)
    if current != old:
        raise StaleRef(ref)


@contextlib.contextmanager
def _ref_lock(path: Path) -> Iterator[tuple[Path, int]]:
    """The lock file, open until it is moved, so that no sweep takes it for a leftover.

    `NotLoose` where another holds it: git waits for it, and says whose it may be.
    """
    lock = path.with_name(f"{path.name}.lock")
    try:
        descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except FileExistsError:
        raise NotLoose(path.name) from None
    try:
        yield lock, descriptor
    except BaseException:
        with contextlib.suppress(OSError):  # once it is moved, a lock here is another's
            if os.path.samestat(os.stat(lock), os.fstat(descriptor)):
                lock.unlink()
        raise
    finally:
        os.close(descriptor)
