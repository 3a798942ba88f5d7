"""Files that are read while they grow: how far each was read, as text, and whether it is still the
same file.

Several files are one source if a restarted writer begins a new file. Each has its own position, so
that late rows of an older file are not lost.
"""

import errno
import json
import os
from collections import deque
from collections.abc import Mapping
from contextlib import closing
from dataclasses import field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Protocol

from herorun.core.canonical_json import sha256
from herorun.core.lazy_dataclass import dataclass
from herorun.core.ports import Rows
from herorun.core.ports.columnar import RowBuilder
from herorun.system._regular_file import open_regular

MAX_ROWS = 200_000  # a read; the next one continues there
MAX_BYTES = 32 << 20  # a read; only data without rows is read beyond it
MAX_ZEROS = 1 << 30  # bytes of zeros that one read skips; the next read continues
KEPT_PROBLEMS = 20
_SAMPLE = 1024  # bytes at either end of the read part, by which a file is recognised


@dataclass(frozen=True)
class ReadPosition:
    """How far one file was read: always the end of a complete record."""

    offset: int = 0  # bytes
    note: str = ""  # the format's state there
    sample: str = ""  # the content before the offset, digested


@dataclass
class Batch:
    """The rows of one read so far."""

    rows: RowBuilder = field(default_factory=RowBuilder)
    problems: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT_PROBLEMS))
    size: int = 0  # bytes read

    def is_full(self, reading: int = 0) -> bool:
        """Whether the batch is full, with so many bytes read of the present file. Never without a
        row, because no rows mean the end.
        """
        return len(self.rows) > 0 and (
            len(self.rows) >= MAX_ROWS or self.size + reading >= MAX_BYTES
        )

    def lines_left(self) -> int:
        """How many rows it may still have."""
        return max(MAX_ROWS - len(self.rows), 0)

    def bytes_left(self, reading: int = 0) -> int:
        """How many bytes may still be read, with so many read of the present file."""
        return MAX_BYTES - self.size - reading


class Reader(Protocol):
    def __call__(self, file: BinaryIO, name: str, mark: ReadPosition, batch: Batch) -> ReadPosition:
        """Read from the mark until the batch is full or no complete record is left; returns the
        position.
        """


class Opener(Protocol):
    def __call__(self, path: Path, offset: int, /) -> tuple[BinaryIO, float]:
        """The file, to be read on from an offset, and when it last changed, in seconds by its
        machine's clock.
        """


def open_local(path: Path, offset: int) -> tuple[BinaryIO, float]:
    """A regular file of this machine."""
    file = open_regular(path)
    return file, os.fstat(file.fileno()).st_mtime


class _FileOpener:
    """Opens one file at a time; a source of one file, perhaps on a remote machine, is opened once
    for each read.
    """

    def __init__(
        self, files: Mapping[str, Path], marks: Mapping[str, ReadPosition], open_file: Opener
    ) -> None:
        self._files, self._marks, self._open = files, marks, open_file
        self._name = ""
        self._file: tuple[BinaryIO, float] | None = None

    def __call__(self, name: str) -> tuple[BinaryIO, float]:
        if self._file is None or self._name != name:
            self.close()
            self._name = name
            self._file = self._open(self._files[name], self._marks.get(name, ReadPosition()).offset)
        return self._file

    def close(self) -> None:
        if self._file is not None:
            self._file[0].close()
            self._file = None


def read_growing(
    files: Mapping[str, Path], cursor: str, read_on: Reader, open_file: Opener = open_local
) -> Rows:
    """The next rows of the files, in order. A removed file keeps its position."""
    positions = _marks(cursor)
    with closing(_FileOpener(files, positions or {}, open_file)) as open_files:
        is_restart = bool(cursor) and not _is_same(open_files, files, positions)
        marks = {} if is_restart else dict(positions or {})
        batch, changed_at = Batch(), 0.0
        for name in files:
            file, seconds = open_files(name)
            changed_at = max(changed_at, seconds)
            if not batch.is_full():
                mark = marks.get(name, ReadPosition())
                next_mark = read_on(file, name, mark, batch)
                batch.size += next_mark.offset - mark.offset
                marks[name] = replace(next_mark, sample=_sample(file, next_mark.offset))
    return Rows(
        rows=batch.rows.build(),
        cursor=_encode_positions(marks),
        changed_at=datetime.fromtimestamp(changed_at, UTC),
        restarted=is_restart,
        problems=tuple(batch.problems),
        at_end=not batch.is_full(),
    )


def data_after(file: BinaryIO, offset: int) -> int | None:
    """Where a hole in the file ends; `offset` if that is unknown, None if only zeros follow."""
    remote = getattr(getattr(file, "raw", None), "data_after", None)  # on another machine
    if remote is not None:
        at: int | None = remote(offset)
        return at
    try:
        number = file.fileno()
        before = os.lseek(number, 0, os.SEEK_CUR)  # what has been buffered relies on it
        try:
            return os.lseek(number, offset, os.SEEK_DATA)
        finally:
            os.lseek(number, before, os.SEEK_SET)
    except OSError as error:
        return None if error.errno == errno.ENXIO else offset


def skip_hole(file: BinaryIO) -> int | None:
    """How many zeros were skipped without reading a hole; None if nothing else follows."""
    at = file.tell()
    after = data_after(file, at)
    if after is not None and after > at:
        file.seek(after)
    return None if after is None else after - at


def _is_same(
    open_files: _FileOpener, files: Mapping[str, Path], positions: Mapping[str, ReadPosition] | None
) -> bool:
    """Whether the files are those of the marks: at least one exists, and none was replaced.

    The content decides, not the inode: a synced copy has a new inode and the same rows.
    """
    marked_files = [name for name in files if name in (positions or {})]
    if positions is None or (positions and not marked_files):
        return False
    return all(
        _sample(open_files(name)[0], positions[name].offset) == positions[name].sample
        for name in marked_files
    )


def _sample(file: BinaryIO, offset: int) -> str:
    """The first bytes of the file and the last ones before the offset, digested; fewer in a
    shortened file.
    """
    size = min(offset, _SAMPLE)
    file.seek(0)
    digest = sha256(file.read(size))
    file.seek(offset - size)
    digest.update(file.read(size))
    return digest.hexdigest()[:16]


def _encode_positions(marks: Mapping[str, ReadPosition]) -> str:
    return json.dumps([[name, mark.offset, mark.note, mark.sample] for name, mark in marks.items()])


def _marks(cursor: str) -> Mapping[str, ReadPosition] | None:
    """The positions in a cursor; None for a cursor that this module did not write."""
    try:
        positions = {
            name: ReadPosition(offset, note, sample)
            for name, offset, note, sample in json.loads(cursor or "[]")
        }
    except (ValueError, TypeError):
        return None
    sound = all(type(mark.offset) is int and mark.offset >= 0 for mark in positions.values())
    return positions if sound else None
