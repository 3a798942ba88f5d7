"""Commits by writing git's files ourselves: a tick commits several times, and each git process
costs more than all else in it.

Only the plain case is ours: a ref that has a file of its own, on a commit whose trees are loose, in
a repository that keeps refs as files. Everything else is `Elsewhere`: then git does it. Objects
reach the disk before the ref that names them, and the ref moves under git's own lock, by
compare-and-swap.
"""

import contextlib
import hashlib
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path

from herorun.core.errors import CouldNotLook, in_words
from herorun.core.lazy_dataclass import dataclass
from herorun.system.files import sync_folder
from herorun.system.git.loose_objects import TREE, Elsewhere, Loose, Row
from herorun.system.git.repository import Repository

FILE = "100644"
_ODD = ("", ".", "..")


class StaleRef(Exception):
    """The ref is not where the caller saw it."""


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

    `StaleRef` where the ref has moved; `Elsewhere` or OSError where nothing was changed and git
    must do it.
    """
    _must_be_plain(repository, ref)
    loose = Loose(repository.common / "objects")
    head = loose.content(parent, b"commit").partition(b"\n")[0]
    top = head.removeprefix(b"tree ").decode("ascii")
    tree = _write_tree(loose, _nested(files), top, len(parent))
    lines = (
        b"tree " + tree.encode(),
        b"parent " + parent.encode(),
        b"author " + identity,
        b"committer " + identity,
        b"",
        message,
    )
    commit = _write_object(loose, b"commit", b"\n".join(lines), len(parent))
    _swap(repository, ref, commit, parent)
    return commit


def _must_be_plain(repository: Repository, ref: str) -> None:
    """Refs in files, no log of this ref, and no permissions that git would set."""
    config = repository.config
    logs = (config("core.logAllRefUpdates") or "").lower()
    if (
        (config("extensions.refStorage") or "files") != "files"
        or config("core.sharedRepository")
        or logs == "always"
        or os.path.lexists(f"{repository.common}/logs/{ref}")
    ):
        raise Elsewhere(ref)


def _nested(files: Mapping[str, bytes]) -> _Folder:
    top = _Folder()
    for path, data in files.items():
        *folders, name = path.split("/")
        if any(part in _ODD or part.lower().startswith(".git") for part in (*folders, name)):
            raise Elsewhere(path)
        at = top
        for part in folders:
            at = at.folders.setdefault(part, _Folder())
        at.files[name] = data
    return top


def _write_tree(loose: Loose, changed: _Folder, oid: str | None, width: int) -> str:
    """The folder `oid` with what is changed in it; None is a new one. `width` is the length of a
    digest in this repository.
    """
    rows = {row[2]: row for row in loose.tree(oid)} if oid else {}
    for name, data in changed.files.items():
        _must_be(rows.get(name), folder=False)
        rows[name] = (FILE, _write_object(loose, b"blob", data, width), name)
    for name, folder in changed.folders.items():
        below = _must_be(rows.get(name), folder=True)
        if name in changed.files:
            raise Elsewhere(name)
        rows[name] = (TREE, _write_tree(loose, folder, below and below[1], width), name)
    tree = b"".join(map(_entry, sorted(rows.values(), key=_sort_key)))
    return _write_object(loose, b"tree", tree, width)


def _must_be(row: Row | None, folder: bool) -> Row | None:
    """A file that becomes a folder, a link or a program is git's matter."""
    if row is not None and row[0] != (TREE if folder else FILE):
        raise Elsewhere(row[2])
    return row


def _sort_key(row: Row) -> bytes:
    """git sorts a folder as if its name ended with a slash."""
    return row[2].encode("utf-8", "surrogateescape") + (b"/" if row[0] == TREE else b"")


def _entry(row: Row) -> bytes:
    mode, oid, name = row
    data = name.encode("utf-8", "surrogateescape")
    return b"%s %s\0%s" % (mode.lstrip("0").encode(), data, bytes.fromhex(oid))


def _write_object(loose: Loose, kind: bytes, body: bytes, width: int) -> str:
    """Durable, and whole before it has its name; one that is there is left, if it is what it
    says.
    """
    whole = b"%s %d\0%s" % (kind, len(body), body)
    digest = hashlib.sha1(whole, usedforsecurity=False) if width == 40 else hashlib.sha256(whole)
    oid = digest.hexdigest()
    path = loose.store / oid[:2] / oid[2:]
    with contextlib.suppress(Elsewhere, OSError):
        loose.content(oid, kind, None)
        os.utime(path)  # as git does it: it is in use, and not to be pruned
        return oid
    path.parent.mkdir(exist_ok=True)
    aside = path.with_name(f"tmp_obj_{os.urandom(6).hex()}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
    try:
        _write_all(descriptor, zlib.compress(whole, 1))
        os.rename(aside, path)  # while it is open, so that no sweep takes it for a leftover
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)
    return oid


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    os.fsync(descriptor)


def _swap(repository: Repository, ref: str, new: str, old: str) -> None:
    """Under the lock that git takes too: it moves, packs or deletes no ref whose lock is held."""
    path = repository.common / ref
    with _ref_lock(path) as lock:
        current = repository.loose(ref)
        if current is None:
            raise Elsewhere(ref)
        if current != old:
            raise StaleRef(ref)
        descriptor = os.open(lock, os.O_WRONLY)
        try:
            _write_all(descriptor, new.encode() + b"\n")
        finally:
            os.close(descriptor)
        os.rename(lock, path)
    try:
        sync_folder(path.parent)
    except OSError as error:  # it has moved: git must not do it again
        raise CouldNotLook(f"{ref} may not be on the disk yet: {in_words(error)}") from None


@contextlib.contextmanager
def _ref_lock(path: Path) -> Iterator[Path]:
    """`Elsewhere` where another holds it: git waits for it, and says whose it may be."""
    lock = path.with_name(f"{path.name}.lock")
    try:
        os.close(os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
    except FileExistsError:
        raise Elsewhere(path.name) from None
    try:
        yield lock
    except BaseException:
        lock.unlink(missing_ok=True)
        raise
