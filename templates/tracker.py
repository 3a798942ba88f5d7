"""Metrics from a CSV file: a header with a `step` column, then a row a line.

The file lies where the job runs: `opener` reads it there, on this machine or over ssh, and
`read_growing` keeps the cursor, sees a replaced file and bounds a read.
"""

from math import isfinite
from pathlib import Path
from typing import BinaryIO

from herorun.core.lazy_pydantic import Field
from herorun.core.ports import AdapterOptions, Place, Row, Rows, Tracker
from herorun.trackers._open_remote import file_path, opener
from herorun.trackers._tail_reader import Batch, Opener, ReadPosition, read_growing

MAX_LINE = 1 << 20  # bytes


class Options(AdapterOptions):
    """The keys of `[tracker]` with this kind, in addition to those of every kind."""

    path: str = Field(
        "metrics.csv", min_length=1, description="Absolute, or relative to the output root."
    )


def connect(options: Options, place: Place) -> Tracker:
    return CsvRows(file_path("csv_rows", options.path, place), opener(place.reach))


class CsvRows:
    """See `core.ports.Tracker`. A missing file raises FileNotFoundError, one that cannot be read
    another OSError.
    """

    def __init__(self, path: Path, open_file: Opener) -> None:
        self._path, self._open = path, open_file

    def read(self, cursor: str) -> Rows:
        return read_growing({self._path.name: self._path}, cursor, _read_on, self._open)


def _read_on(file: BinaryIO, name: str, mark: ReadPosition, batch: Batch) -> ReadPosition:
    """The next whole lines. What is no row is a problem, named by its place and never by its
    content.
    """
    file.seek(0)
    header = file.readline(MAX_LINE)
    columns = header.decode("utf-8", "replace").strip().split(",")
    offset = max(mark.offset, len(header) if header.endswith(b"\n") else 0)
    file.seek(offset)
    while offset and (line := file.readline(MAX_LINE)).endswith(b"\n"):
        if row := parse(columns, line.decode("utf-8", "replace")):
            batch.rows.append(row)
        else:
            batch.problems.append(f"{name}, byte {offset}: no row")
        offset += len(line)
        if batch.is_full(offset - mark.offset):
            break
    return ReadPosition(offset)


def parse(columns: list[str], line: str) -> Row | None:
    """A row; None for what is none. An empty cell is no value, `nan` and `inf` are values."""
    try:
        cells = zip(columns, line.strip().split(","), strict=True)
        values = {name: float(cell) for name, cell in cells if cell}
        step = values.pop("step")
    except (ValueError, KeyError):
        return None
    return Row(int(step), values) if isfinite(step) else None
