"""Metrics from a text file of lines such as `step=12 train/loss=3.5`."""

import hashlib
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from pydantic import BaseModel, ConfigDict, Field

from herorun.core.ports import Place, Row, Rows, Tracker

MOST_BYTES = 16 << 20  # a read; the cursor goes on from there
_SAMPLE = 1024  # bytes before the cursor, by which the file is known again


class Options(BaseModel):
    """The keys of `[tracker]` with this kind, beside those that every kind has."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str = Field(
        "metrics.txt", min_length=1, description="Absolute, or relative to the output root."
    )


def connect(options: Options, place: Place) -> Tracker:
    return KeyValues(Path(place.output_root) / options.path)


class KeyValues:
    """See `core.ports.Tracker`. A missing file raises FileNotFoundError, one that cannot be read
    another OSError.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, cursor: str) -> Rows:
        """The next rows. What is no row is a problem, named by its place and never by its
        content.
        """
        rows: list[Row] = []
        problems: list[str] = []
        with self._path.open("rb") as file:
            begun = _resumed(file, cursor)
            at = begun or 0
            file.seek(at)
            for line in file.read(MOST_BYTES).splitlines(keepends=True):
                if not line.endswith(b"\n"):
                    break  # torn: it waits for its end
                row = parse(line.decode("utf-8", "replace"))
                if row:
                    rows.append(row)
                else:
                    problems.append(f"{self._path.name}, byte {at}: no row")
                at += len(line)
            changed = datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, UTC)
            now = f"{at}:{_sample(file, at)}"
        return Rows(tuple(rows), now, changed, bool(cursor) and begun is None, tuple(problems))


def parse(line: str) -> Row | None:
    """A row; None for what is none."""
    try:
        values = {key: float(value) for key, value in (part.split("=") for part in line.split())}
        return Row(int(values.pop("step")), values)
    except (ValueError, KeyError, OverflowError):
        return None


def _resumed(file: BinaryIO, cursor: str) -> int | None:
    """Where to go on; None if this is not the content that the cursor was made on."""
    told = re.fullmatch(r"(\d{1,18}):([0-9a-f]{16})", cursor, re.ASCII)
    return int(told[1]) if told and _sample(file, int(told[1])) == told[2] else None


def _sample(file: BinaryIO, at: int) -> str:
    file.seek(max(at - _SAMPLE, 0))
    return hashlib.sha256(b"%d " % at + file.read(min(at, _SAMPLE))).hexdigest()[:16]
