"""TensorBoard's event files, read while they are written, without TensorBoard.

Each process that logs makes a file of its own; the files of the folder are one source, in the order
of their names, which begin with the time, and each is an attempt. A folder inside it is another
run, as it is for TensorBoard.
"""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import BinaryIO

from herorun.core.lazy_pydantic import Field
from herorun.core.plan import TrackerRun
from herorun.core.ports import AdapterOptions, Mention, Place, Row, Rows, Tracker
from herorun.trackers._events import Event, event_of
from herorun.trackers._open_remote import local_path
from herorun.trackers._protobuf_wire import MalformedMessage
from herorun.trackers._tail_reader import Batch, ReadPosition, read_growing
from herorun.trackers._tfrecord import records

_MARK = ".tfevents."


class Options(AdapterOptions):
    path: str = Field(
        "tensorboard",
        min_length=1,
        description=(
            "The folder with the run's event files, or one event file; absolute, or relative to "
            "the output root."
        ),
    )


def connect(options: Options, place: Place) -> Tracker:
    return TensorBoard(local_path("tensorboard", options.path, place))


class TensorBoard:
    """The event files of one folder. Values are as exact as they were written: mostly to 7
    digits.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def mentions(self, run: TrackerRun) -> tuple[Mention, ...]:
        return (Mention("path", self._path.name, "SummaryWriter", "log_dir", 0),)

    def read(self, cursor: str) -> Rows:
        """The next rows: consecutive values of one step form one row."""
        files = self._files()
        return read_growing(files, cursor, partial(_read_events, min(files)))

    def _files(self) -> Mapping[str, Path]:
        if not self._path.is_dir():
            self._path.stat()  # raises what is wrong with it
            return {self._path.name: self._path}
        names = sorted(name for name in os.listdir(self._path) if _MARK in name)
        if not names:
            raise FileNotFoundError(f"{self._path} holds no event files")
        return {name: self._path / name for name in names}


def _read_events(
    first: str, file: BinaryIO, name: str, mark: ReadPosition, batch: Batch
) -> ReadPosition:
    row = _OpenRow(name, bool(mark.note))
    end_offset = mark.offset
    for end, record in records(file, mark.offset):
        finished_row = None
        try:
            if record is None:
                raise MalformedMessage("a damaged event")
            finished_row = row.add(event_of(record), end_offset)
        except MalformedMessage as why:
            batch.problems.append(f"{name}, before byte {end}: {why}")
        if finished_row:
            batch.rows.append(finished_row)
            if batch.is_full(end_offset - mark.offset):
                return ReadPosition(row.row_offset, _note(row.had_step))
        end_offset = end
    if row.is_doubtful and name != first:
        return ReadPosition(row.row_offset)  # later events will show it
    if last := row.close():
        batch.rows.append(last)
    return ReadPosition(end_offset, _note(row.has_step))


def _note(is_known: bool) -> str:
    return "told" if is_known else ""


class _OpenRow:
    """Scalars of one step become one row; another step, or a tag that comes again, begins the next.

    A step of zero reads like none. Once a file has another step, it means none; before, it is step
    0 if the row that follows shares a tag: a summary of the run at its beginning has its own tags.
    """

    def __init__(self, attempt: str, is_known: bool) -> None:
        self._attempt = attempt
        self.has_step = is_known  # whether the file has had a step
        self.had_step = is_known  # the same, before the open row
        self.row_offset = 0  # the offset before the open row
        self._step = 0
        self._values: dict[str, float] = {}
        self._at: datetime | None = None

    @property
    def is_doubtful(self) -> bool:
        return bool(self._values) and not self.has_step

    def add(self, event: Event, offset: int) -> Row | None:
        """Add an event that begins at an offset; returns the row that it completes, if any."""
        if not event.scalars or (event.step is None and self.has_step):
            return None
        step = event.step or 0
        comes_again = any(tag in self._values for tag, _ in event.scalars)
        finished_row = None
        if step != self._step or comes_again:
            is_summary = self.is_doubtful and not comes_again
            finished_row = self.close()
            finished_row = None if is_summary else finished_row
        if not self._values:
            self._step, self._at, self.row_offset = step, _utc(event.wall_time), offset
            self.had_step = self.has_step
        self._values.update(event.scalars)
        self.has_step = self.has_step or step != 0
        return finished_row

    def close(self) -> Row | None:
        row = Row(self._step, self._values, self._at, self._attempt) if self._values else None
        self._values = {}
        return row


def _utc(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC) if seconds > 0 else None
    except (ValueError, OverflowError, OSError):
        return None
