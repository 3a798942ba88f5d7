"""Metrics from a file of JSON lines: Levanter's json_logger lines, and plain rows.

Only complete lines are read; a torn last line waits for its end. A line that cannot be used is named among the
problems, by place and never by content, and does not stop the reading.
"""

import hashlib
import os
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from pydantic import BaseModel, ConfigDict, Field

from herorun.core.errors import WrongUse
from herorun.core.ports import Place, Row, Rows
from herorun.core.reach import Reach
from herorun.core.scrub import scrub
from herorun.trackers._reach import open_growing
from herorun.trackers.json_rows import STEP_KEYS, Unusable, parse_row

MOST_ROWS = 200_000  # a read; the cursor goes on from there
MOST_BYTES = 32 << 20  # a read; only garbage is read beyond it
LONGEST_LINE = 16 << 20
KEPT_PROBLEMS = 20
_CURSOR = re.compile(r"1:(\d{1,18}):(\d{1,18}):([0-9a-f]{16})", re.ASCII)
_SAMPLE = 1024  # bytes at either end of what was read, by which the source is known again


class Options(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str = Field("metrics.jsonl", min_length=1, description="Absolute, or relative to the output root.")
    step_key: str | None = Field(
        None,
        description="The column that holds the step; else step, _step, global_step or train/global_step.",
    )


def connect(options: Options, place: Place) -> "JsonLines":
    path = os.path.join(place.output_root, options.path)
    if "://" in path or "\0" in path:
        raise WrongUse(
            f"The tracker jsonl reads files, and {scrub(path)!r} is none: give [tracker] an absolute `path`."
        )
    return JsonLines(Path(path), options.path, options.step_key, place.reach)


class JsonLines:
    """One file; `shown` is its name in problems."""

    def __init__(
        self, path: Path, shown: str, step_key: str | None = None, reach: Reach | None = None
    ) -> None:
        self._path = path
        self._reach = reach
        self._shown = shown
        self._step_keys = (step_key,) if step_key else STEP_KEYS

    def read(self, cursor: str) -> Rows:
        """The next rows; none only if there are no more. A large file takes several reads."""
        file, seconds = open_growing(self._path, self._reach, _offset(cursor))
        with file:
            known = _resumed(file, cursor)
            start = known or _Cursor(0, 0)
            rows, problems, end = self._collect(file, start)
            changed = datetime.fromtimestamp(seconds, UTC)
            written = f"1:{end.offset}:{end.line}:{_fingerprint(file, end.offset)}"
        return Rows(tuple(rows), written, changed, bool(cursor) and known is None, tuple(problems))

    def _collect(self, file: BinaryIO, start: "_Cursor") -> tuple[list[Row], deque[str], "_Cursor"]:
        rows: list[Row] = []
        problems: deque[str] = deque(maxlen=KEPT_PROBLEMS)
        offset, number = start.offset, start.line
        file.seek(offset)
        for size, line in _lines(file):
            offset, number = offset + size, number + 1
            try:
                row = _parsed(line, self._step_keys)
            except Unusable as why:
                problems.append(f"{self._shown}:{number}: {why}")
                continue
            if row:
                rows.append(row)
            if rows and (len(rows) >= MOST_ROWS or offset - start.offset >= MOST_BYTES):
                break
        return rows, problems, _Cursor(offset, number)


@dataclass(frozen=True)
class _Cursor:
    offset: int  # bytes read
    line: int  # lines read


def _offset(cursor: str) -> int:
    told = _CURSOR.fullmatch(cursor)
    return int(told[1]) if told else 0


def _resumed(file: BinaryIO, cursor: str) -> _Cursor | None:
    """Where to go on; None if this is not the content that the cursor was made on.

    The content decides and not the inode: a copy that is synced again has a new inode and the same rows.
    """
    told = _CURSOR.fullmatch(cursor)
    if not told:
        return None
    offset = int(told[1])
    return _Cursor(offset, int(told[2])) if _fingerprint(file, offset) == told[3] else None


def _fingerprint(file: BinaryIO, offset: int) -> str:
    """The first bytes of the file and the last ones before the offset, digested; fewer in a shortened file."""
    size = min(offset, _SAMPLE)
    file.seek(0)
    sample = hashlib.sha256(file.read(size))
    file.seek(offset - size)
    sample.update(file.read(size))
    return sample.hexdigest()[:16]


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Complete lines and their sizes in bytes; None in place of one that is too long to hold."""
    while line := file.readline(LONGEST_LINE):
        size = len(line)
        while not line.endswith(b"\n"):
            more = file.readline(LONGEST_LINE)
            if not more:
                return
            size += len(more)
            line = line + more if size <= LONGEST_LINE else more
        yield size, line if size <= LONGEST_LINE else None


def _parsed(line: bytes | None, step_keys: tuple[str, ...]) -> Row | None:
    if line is None:
        raise Unusable(f"longer than {LONGEST_LINE >> 20} MiB")
    return parse_row(line, step_keys)
