"""Which tests each worker still has to run, in memory that all of them see."""

import fcntl
import mmap
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

NOTHING = -1


@dataclass(frozen=True)
class Share:
    """Tests by their numbers; the first two were taken out of what is left."""

    current: int
    upcoming: int
    first: int  # of what is left
    end: int


class Shares:
    def __init__(self, items: int, workers: int) -> None:
        self._workers = workers
        self._cells = memoryview(mmap.mmap(-1, 8 * (4 * workers + 1))).cast("q")
        # the lock of a worker that dies is freed, which those of multiprocessing are not
        self._lock = tempfile.TemporaryFile()  # noqa: SIM115  # open as long as the workers run
        for worker in range(workers):
            bounds = (items * worker // workers, items * (worker + 1) // workers)
            self._put(worker, Share(NOTHING, NOTHING, *bounds))

    def take(self, worker: int) -> Share:
        """What it runs now, and what after that, which pytest has to know to end fixtures in time:
        that one is nobody else's.
        """
        with self._hold_lock():
            self._advance(worker)
            if self.of(worker).current == NOTHING:
                self._advance(worker)
            return self.of(worker)

    def of(self, worker: int) -> Share:
        return Share(*self._cells[4 * worker : 4 * worker + 4])

    def stop(self) -> None:
        """No worker takes anything more."""
        self._cells[4 * self._workers] = 1

    def _advance(self, worker: int) -> None:
        share = self.of(worker)
        share = replace(share, current=share.upcoming, upcoming=NOTHING)
        is_stopped = bool(self._cells[4 * self._workers])
        if share.first == share.end and not is_stopped:
            first, end = self._half_of_the_slowest()
            share = replace(share, first=first, end=end)
        if share.first != share.end and not is_stopped:
            share = replace(share, upcoming=share.first, first=share.first + 1)
        self._put(worker, share)

    def _half_of_the_slowest(self) -> tuple[int, int]:
        """The later half: the others are next to what that worker runs."""
        shares = {worker: self.of(worker) for worker in range(self._workers)}
        slowest = max(shares, key=lambda worker: shares[worker].end - shares[worker].first)
        share = shares[slowest]
        middle = (share.first + share.end) // 2
        self._put(slowest, replace(share, end=middle))
        return middle, share.end

    def _put(self, worker: int, share: Share) -> None:
        numbers = (share.current, share.upcoming, share.first, share.end)
        for at, number in enumerate(numbers, 4 * worker):
            self._cells[at] = number

    @contextmanager
    def _hold_lock(self) -> Iterator[None]:
        fcntl.lockf(self._lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.lockf(self._lock, fcntl.LOCK_UN)
