"""SHA-256 of many files in parallel, on their own machine. Its source is sent there
(`system/remote_python.py`).

Standard library only, from Python 3.8 on. hashlib releases the interpreter's lock for large blocks,
so threads use every core; each thread needs one block of memory, for any file size.
"""

from __future__ import annotations

import hashlib
import os
import queue
import stat
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import Any

from herorun.system._regular_file import open_regular

BLOCK = 1 << 20  # bytes of one read
REPORT_EVERY = 0.5  # seconds between two reports of one thread
MAX_THREADS = 32
STALL_TIMEOUT = 120.0  # seconds without any block: the mount hangs; a disk is not so slow


def digests(
    folder: str, names: list[str], cached_digests: dict[str, list[str]]
) -> Iterator[list[Any]]:
    """Yields `[bytes read]` from time to time, and `[0, name, size, SHA-256, stamp]` for each file.

    The stamp changes when the file does. One of `cached_digests` (name -> stamp, SHA-256) that has
    its stamp is not read again. The SHA-256 is "" if it is not a regular file. OSError if a file
    cannot be read, or changes during the read.
    """
    work = _Work(folder, _largest_first(folder, names), cached_digests)
    try:
        running = work.start(min(_cores(), MAX_THREADS, len(names)))
        while running:
            event = work.next()
            if event is None:
                running -= 1
            else:
                yield event
    finally:
        work.stopped.set()


def stamp(facts: os.stat_result) -> str:
    """A text that changes at every write: unlike the modification time, the change time (ctime)
    cannot be set back.
    """
    return f"{facts.st_ino}-{facts.st_size}-{facts.st_mtime_ns}-{facts.st_ctime_ns}"


class _Work:
    """Threads that take one file after another, and what they report."""

    def __init__(
        self, folder: str, names: deque[str], cached_digests: dict[str, list[str]]
    ) -> None:
        self.folder, self.names, self.cached = folder, names, cached_digests
        self.events: queue.Queue[Any] = queue.Queue(1024)
        self.stopped = threading.Event()

    def start(self, count: int) -> int:
        for _ in range(count):
            threading.Thread(target=self._run, daemon=True).start()
        return count

    def next(self) -> Any:
        try:
            event = self.events.get(timeout=STALL_TIMEOUT)
        except queue.Empty:
            raise TimeoutError(
                f"nothing under {self.folder} could be read for {STALL_TIMEOUT:g}s: "
                "its disk may hang"
            ) from None
        if isinstance(event, BaseException):
            raise event
        return event

    def _run(self) -> None:
        last: Any = None
        try:
            while (name := self._next_name()) is not None:
                self._put([0, *self._digest_file(name)])
        except BaseException as error:
            last = error
        self._put(last)

    def _next_name(self) -> str | None:
        try:
            return None if self.stopped.is_set() else self.names.popleft()
        except IndexError:
            return None

    def _put(self, event: Any) -> None:
        """Queue an event, unless the reader has ended."""
        while not self.stopped.is_set():
            try:
                self.events.put(event, timeout=1.0)
                return
            except queue.Full:
                continue

    def _digest_file(self, name: str) -> tuple[str, int, str, str]:
        path = os.path.join(self.folder, name)
        try:
            before = os.stat(path)
        except FileNotFoundError:
            before = os.lstat(path)  # a link that leads nowhere
        mark = stamp(before)
        if not stat.S_ISREG(before.st_mode):
            return name, 0, "", mark
        if self.cached.get(name, [""])[0] == mark:
            return name, before.st_size, self.cached[name][1], mark
        digest = self._read(path)
        if stamp(os.stat(path)) != mark:
            raise OSError(
                f"{path} changed while it was read: wait until nothing writes to it, then try again"
            )
        return name, before.st_size, digest, mark

    def _read(self, path: str) -> str:
        digest, block, bytes_to_report, reported_at = (
            hashlib.sha256(),
            bytearray(BLOCK),
            0,
            time.monotonic(),
        )
        view = memoryview(block)
        with open_regular(path) as file:
            while not self.stopped.is_set():
                count = file.readinto(block)
                if not count:
                    break
                digest.update(view[:count])
                bytes_to_report += count
                if time.monotonic() - reported_at >= REPORT_EVERY:
                    self._put([bytes_to_report])
                    bytes_to_report, reported_at = 0, time.monotonic()
        self._put([bytes_to_report])
        return digest.hexdigest()


def _largest_first(folder: str, names: list[str]) -> deque[str]:
    """The names, largest files first, so that no thread starts the longest file last."""

    def size(name: str) -> int:
        try:
            return os.stat(os.path.join(folder, name)).st_size
        except OSError:
            return 0

    return deque(sorted(names, key=size, reverse=True))


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
