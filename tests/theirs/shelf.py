"""Another package's store: every file is a row of one SQLite file, and a folder is a prefix."""

import errno
import hashlib
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime

from herorun.core.errors import WrongUse
from herorun.core.ports import AdapterOptions, FileDigest, FileEntry, LifecycleRule, Place, Store

SCHEME = "shelf://"
TABLE = """create table if not exists files
(path text primary key, data blob, modified real,
generation text default (hex(randomblob(8))))"""


class Options(AdapterOptions):
    file: str = "shelf.sqlite"


def connect(options: Options, place: Place) -> Store:
    return Shelf(options.file)


class Shelf:
    def __init__(self, file: str) -> None:
        self._file = file

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._file, timeout=30, isolation_level=None)) as database:
            database.execute("begin immediate")
            database.execute(TABLE)
            yield database
            database.execute("commit")

    def _row(self, path: str) -> tuple[bytes, float, str]:
        """A row without data stands for a broken disk."""
        query = "select data, modified, generation from files where path = ?"
        with self._open() as database:
            row = database.execute(query, (_key(path),)).fetchone()
        if row is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if row[0] is None:
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        return row[0], row[1], row[2]

    def entries(self, path: str) -> tuple[FileEntry, ...]:
        head, files = f"{_key(path)}/", dict[str, FileEntry]()
        query = "select path, modified, length(data) from files where substr(path, 1, ?) = ?"
        with self._open() as database:
            rows = database.execute(query, (len(head), head)).fetchall()
        for key, at, size in rows:
            name, slash, _ = key[len(head) :].partition("/")
            is_file = not slash
            modified_at = datetime.fromtimestamp(at, UTC) if is_file else None
            files[name + slash] = FileEntry(name + slash, modified_at, size if is_file else None)
        if not files:
            self._row(path)  # raises where there is nothing at all
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        return tuple(files[name] for name in sorted(files))

    def names(self, path: str) -> tuple[str, ...]:
        return tuple(entry.name for entry in self.entries(path))

    def read(self, path: str) -> bytes:
        return self._row(path)[0]

    def end(self, path: str, count: int) -> bytes:
        data = self.read(path)
        return data[max(len(data) - count, 0) :]

    def modified(self, path: str) -> datetime:
        return datetime.fromtimestamp(self._row(path)[1], UTC)

    def generation(self, path: str) -> str:
        return self._row(path)[2]

    def digests(
        self, folder: str, names: Sequence[str], previous: Mapping[str, FileDigest]
    ) -> Iterator[int | FileDigest]:
        for name in names:
            data = self.read(f"{folder}/{name}")
            yield FileDigest(name, len(data), f"sha256:{hashlib.sha256(data).hexdigest()}")

    def region(self, root: str) -> None:
        _key(root)

    def rules(self, root: str) -> tuple[LifecycleRule, ...]:
        _key(root)
        return ()

    def create(self, path: str, data: bytes) -> None:
        key = _key(path)
        parents = [key[:at] for at, char in enumerate(key) if char == "/"]
        marks = ",".join("?" * len(parents))
        with self._open() as database:
            query = f"select path from files where path in ({marks})"
            if database.execute(query, parents).fetchone():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
            try:
                command = "insert into files (path, data, modified) values (?, ?, ?)"
                database.execute(command, (key, data, time.time()))
            except sqlite3.IntegrityError:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path) from None

    def swap(self, path: str, before: bytes, after: bytes) -> bool:
        self._row(path)
        command = """update files set data = ?, modified = ?, generation = hex(randomblob(8))
        where path = ? and data = ?"""
        with self._open() as database:
            values = (after, time.time(), _key(path), before)
            return database.execute(command, values).rowcount == 1

    def delete(self, path: str) -> None:
        with self._open() as database:
            command = "delete from files where path = ?"
            if database.execute(command, (_key(path),)).rowcount:
                return
        self.create(f"{path}/_probe", b"")  # raises below what is no folder
        self.delete(f"{path}/_probe")
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)

    def delete_folder(self, path: str) -> None:
        try:
            self.entries(path)
        except FileNotFoundError:
            return
        raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)

    def probe(self, root: str) -> None:
        file = f"{root}/_herorun/probe"
        self.create(file, b"probe")
        self.delete(file)


def _key(path: str) -> str:
    if not path.startswith(SCHEME) or "@" in path:
        raise WrongUse(f"This store holds {SCHEME} addresses only, without a password.")
    return path.removeprefix(SCHEME).rstrip("/")
