"""Levanter's own log: the lines of its JSON logger, and its progress bar where there are none.

The log of a job holds much else, which is no problem: only a line of the JSON logger that cannot be
read is one.
"""

import fnmatch
import os
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import BinaryIO

from herorun.core.lazy_pydantic import Field
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import AdapterOptions, Place, Row, Rows, Tracker
from herorun.trackers._json_rows import UnusableLine, parse_row
from herorun.trackers._open_remote import local_path
from herorun.trackers._tail_reader import Batch, ReadPosition, read_growing, skip_hole

MAX_LINE = 16 << 20
_JSON = b'"json_logger"'
_STEPLESS = lazy_regex(rb'"event": ?"log", ?"step": ?null')
_BAR = b"Progress on:train"
_PROGRESS = lazy_regex(rb"Progress on:train (?:-/?)?(\d{1,15}(?:\.\d{1,6})?)([kMGT]?)it/")
_UNITS = {b"": 1, b"k": 10**3, b"M": 10**6, b"G": 10**9, b"T": 10**12}


class Options(AdapterOptions):
    path: str = Field(
        "train.log",
        min_length=1,
        description=(
            "The log; absolute, or relative to the output root. `*` in its name matches "
            "several, one for each attempt."
        ),
    )


def connect(options: Options, place: Place) -> Tracker:
    return LevanterLog(local_path("levanter_log", options.path, place))


class LevanterLog:
    """One log, or several in the order of the numbers in their names."""

    progress_lines = "Levanter's"

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, cursor: str) -> Rows:
        """The next rows. A row of the progress bar tells a step and no values, and its step is a
        lower bound.
        """
        return read_growing(self._logs(), cursor, _read_levanter_lines)

    def _logs(self) -> Mapping[str, Path]:
        folder, pattern = self._path.parent, self._path.name
        if "*" not in pattern:
            self._path.stat()  # raises what is wrong with it
            return {pattern: self._path}
        names = fnmatch.filter(os.listdir(folder), pattern.replace("[", "[[]").replace("?", "[?]"))
        if not names:
            raise FileNotFoundError(f"{folder} holds no {pattern}")
        return {name: folder / name for name in sorted(names, key=_natural)}


def _read_levanter_lines(
    file: BinaryIO, name: str, mark: ReadPosition, batch: Batch
) -> ReadPosition:
    end_offset, note = mark.offset, mark.note
    file.seek(end_offset)
    for size, line in _read_log_lines(file):
        end_offset += size
        try:
            if row := _parse_progress_row(line, name, not note):
                batch.rows.append(row)
                note = note or ("json" if row.values else "")
        except UnusableLine as why:
            batch.problems.append(f"{name}, before byte {end_offset}: {why}")
        if batch.is_full(end_offset - mark.offset):
            break
    return ReadPosition(end_offset, note)


def _parse_progress_row(line: bytes, attempt: str, bar: bool) -> Row | None:
    """The row of a line, if it has one; that of the progress bar only where it counts."""
    if _JSON in line:
        if len(line) > MAX_LINE:
            raise UnusableLine(f"longer than {MAX_LINE >> 20} MiB")
        row = None if _STEPLESS.search(line) else parse_row(line, ("step",))
        return Row(row.step, row.values, row.at, attempt) if row else None
    step = progress(line) if bar and _BAR in line else None
    return None if step is None else Row(step, {}, None, attempt)


def progress(line: bytes) -> int | None:
    """The last step that the bar's count of finished steps proves; None before the first.

    The count is rounded: the smallest one that is written so is taken, so that the steps never run
    ahead.
    """
    match = _PROGRESS.search(line)
    if not match:
        return None
    digits = Decimal(match[1].decode())
    exponent = digits.as_tuple().exponent
    half = Decimal(5).scaleb(int(exponent) - 1) if match[2] or int(exponent) else Decimal(0)
    least = (digits - half) * _UNITS[match[2]]
    finished_steps = int(least.to_integral_value(rounding="ROUND_CEILING"))
    return finished_steps - 1 if finished_steps > 0 else None


def _read_log_lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Complete lines and their sizes in bytes; of one that is too long to hold, its beginning."""
    while line := file.readline(MAX_LINE + 1):
        size, last = len(line), line
        while not last.endswith(b"\n"):
            hole = 0 if last.strip(b"\0") else skip_hole(file)
            last = file.readline(MAX_LINE) if hole is not None else b""
            if not last or hole is None:
                return
            size += len(last) + hole
        yield size, line


def _natural(path: str) -> list[tuple[int, str]]:
    """`tiny-2` before `tiny-10`."""
    parts = re.split(r"(\d+)", path)
    return [(int(part), "") if at % 2 else (0, part) for at, part in enumerate(parts)]
