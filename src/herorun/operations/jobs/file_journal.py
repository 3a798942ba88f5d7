"""A record without a repository: the journal's hash-chained lines in one file of the user's state
folder.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.event import Event
from herorun.core.journal import (
    START,
    BrokenJournal,
    JournalLine,
    Memory,
    chain,
    fold,
    read_lines,
    scrub_event,
)
from herorun.record import FoldedMemory, Pushed
from herorun.system.files import hold_lock, make_folders, sync_folder


class Journal:
    """The record of a run without a repository: one file that only grows. It answers as `RunRecord`
    says.
    """

    branch, remote, address = "the journal", None, ""

    def __init__(self, path: Path, slug: str) -> None:
        self.path, self.slug = path, slug
        self._file_state: tuple[int, int, int] | None = None
        self._lines: tuple[JournalLine, ...] = ()
        self._memory = Memory()

    @property
    def tip(self) -> str | None:
        lines = self.lines()
        return lines[-1].hash if lines else None

    pushed_tip = anchor = tip

    def memory(self) -> Memory:
        self._read()
        return self._memory

    def folded_memory(self) -> FoldedMemory:
        self._read()
        return FoldedMemory(
            self._memory, len(self._lines), self._lines[-1].id if self._lines else ""
        )

    def lines(self) -> Sequence[JournalLine]:
        self._read()
        return self._lines

    def append(self, *events: Event, files: Mapping[str, bytes] | None = None) -> str:
        """Add events durably. A line that a crash has cut off was never an event, and makes
        room.
        """
        with hold_lock(
            self.path.with_suffix(".lock"), what="another herorun that writes this journal"
        ):
            self._read()
            self.must_understand()
            prev = self._lines[-1].hash if self._lines else START
            new = chain([scrub_event(event) for event in events], prev)
            data = "".join(f"{line.text}\n" for line in new).encode()
            _append(self.path, data)
            self._read()
            return new[-1].hash

    def must_understand(self) -> None:
        if self.memory().newer:
            raise WrongUse(
                f"{self.path} was written by a newer herorun, which this one only reads: upgrade "
                "herorun."
            )

    def push(self) -> Pushed:
        return Pushed()  # there is nowhere to push it to

    def _read(self) -> None:
        try:
            stat = self.path.stat()
        except FileNotFoundError:
            self._file_state, self._lines, self._memory = None, (), Memory()
            return
        stamp = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        if stamp == self._file_state:
            return
        texts = self.path.read_bytes().split(b"\n")[:-1]
        try:
            lines = read_lines(
                (f"line {n}", t.decode("utf-8", "replace")) for n, t in enumerate(texts, 1) if t
            )
        except BrokenJournal as error:
            raise CouldNotLook(
                f"{self.path} is damaged ({error}), so nothing is done. Move it away to start a "
                "new one."
            ) from None
        self._file_state, self._lines, self._memory = (
            stamp,
            tuple(lines),
            fold(line.event for line in lines),
        )


def _append(path: Path, data: bytes) -> None:
    make_folders(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "r+b") as file:
        complete_size = file.read().rfind(b"\n") + 1
        file.truncate(complete_size)
        file.seek(complete_size)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    sync_folder(path.parent)
