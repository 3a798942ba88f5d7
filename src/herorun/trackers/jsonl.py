"""Metrics from a file of JSON lines: Levanter's json_logger lines, and plain rows.

Only complete lines are read; a torn last line waits for its end. A line that cannot be used is
named among the problems, by place and never by content, and does not stop the reading.
"""

import posixpath
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from herorun.core.lazy_pydantic import Field
from herorun.core.plan import TrackerRun
from herorun.core.ports import AdapterOptions, Mention, Place, Row, Rows, Tracker
from herorun.core.remote.target import RemoteTarget
from herorun.trackers._json_rows import STEP_KEYS, UnusableLine, parse_row
from herorun.trackers._open_remote import file_path, opener
from herorun.trackers._tail_reader import MAX_ZEROS, Batch, ReadPosition, read_growing, skip_hole

MAX_LINE = 16 << 20
BLOCK = 1 << 18  # bytes whose lines are parsed at once


class Options(AdapterOptions):
    path: str = Field(
        "metrics.jsonl", min_length=1, description="Absolute, or relative to the output root."
    )
    step_key: str | None = Field(
        None,
        description=(
            "The column that holds the step; by default step, _step, global_step or "
            "train/global_step."
        ),
    )


def connect(options: Options, place: Place) -> Tracker:
    path = file_path("jsonl", options.path, place)
    return JsonLines(path, options.path, options.step_key, place.reach)


class JsonLines:
    """One file; `shown` is its name in problems."""

    def __init__(
        self,
        path: Path,
        shown_path: str,
        step_key: str | None = None,
        reach: RemoteTarget | None = None,
    ) -> None:
        self._path = path
        self._open = opener(reach)
        self._path_in_job = self.rows_file = (
            shown_path  # where `herorun.log` writes, as the contract states
        )
        self._step_keys = (step_key,) if step_key else STEP_KEYS

    def mentions(self, run: TrackerRun) -> tuple[Mention, ...]:
        return (Mention("path", posixpath.basename(self._path_in_job)),)

    def read(self, cursor: str) -> Rows:
        """The next rows; none only if there are no more. A large file takes several reads."""
        read_on = partial(_read_json_lines, self._step_keys)
        return read_growing({self._path_in_job: self._path}, cursor, read_on, self._open)


def _read_json_lines(
    step_keys: tuple[str, ...], file: BinaryIO, name: str, mark: ReadPosition, batch: Batch
) -> ReadPosition:
    """The mark's note is how many lines were read."""
    number = int(mark.note) if mark.note.isdecimal() else 0
    end_offset, number = _read_blocks(step_keys, file, name, mark.offset, number, batch)
    if batch.is_full(end_offset - mark.offset):
        return ReadPosition(end_offset, str(number))
    file.seek(end_offset)
    for size, line in _read_complete_lines(file):
        end_offset, number = end_offset + size, number + 1
        try:
            if row := _parse_line(line, step_keys):
                batch.rows.append(row)
        except UnusableLine as why:
            batch.problems.append(f"{name}:{number}: {why}")
        if batch.is_full(end_offset - mark.offset):
            break
    return ReadPosition(end_offset, str(number))


def _read_blocks(
    step_keys: tuple[str, ...],
    file: BinaryIO,
    name: str,
    offset: int,
    number: int,
    batch: Batch,
) -> tuple[int, int]:
    """Many lines at once; where that ends, and at which line: at the last one, at one that is too
    long, or near what one read may bring.
    """
    from herorun.trackers._json_columns import parse_rows

    def complain(place: int, why: UnusableLine) -> None:
        batch.problems.append(f"{name}:{number + place + 1}: {why}")

    end_offset, torn_line = offset, b""
    file.seek(end_offset)
    while (lines := batch.lines_left()) and batch.bytes_left(end_offset - offset) >= BLOCK:
        block = file.read(BLOCK)
        *complete, torn_line = (torn_line + block).split(b"\n")
        if not complete or len(complete) > lines or max(map(len, complete)) >= MAX_LINE:
            break
        for rows in parse_rows(complete, complain, step_keys):
            batch.rows.extend(rows)
        end_offset += sum(map(len, complete)) + len(complete)
        number += len(complete)
    return end_offset, number


def _read_complete_lines(file: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Complete lines and their sizes in bytes; None in place of one that is too long to hold."""
    while line := file.readline(MAX_LINE):
        size = len(line)
        while not line.endswith(b"\n"):
            hole = 0 if line.strip(b"\0") else skip_hole(file)
            more = file.readline(MAX_LINE) if hole is not None else b""
            if not more or hole is None:
                return
            size += len(more) + hole
            line = line + more if size <= MAX_LINE else more
            if size > MAX_ZEROS and not line.strip(b"\0"):
                yield size, None
                return
        yield size, line if size <= MAX_LINE else None


def _parse_line(line: bytes | None, step_keys: tuple[str, ...]) -> Row | None:
    if line is None:
        raise UnusableLine(f"longer than {MAX_LINE >> 20} MiB")
    return parse_row(line, step_keys)
