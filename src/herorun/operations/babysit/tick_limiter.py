"""How many ticks of one process run at the same moment.

The threads of one interpreter cannot compute in parallel: with two or more, each read of a file
passes the interpreter's lock to another thread, and a tick costs twice the CPU seconds.
"""

import threading
import time
from collections.abc import Callable

POLL_INTERVAL = 0.1  # seconds: the longest delay that a tick that waits adds to the next
# Of one core: what a process uses whose ticks all wait for something else. On a loaded machine one
# that computes without a pause may get no more than a fifth.
IDLE_SHARE = 0.1
# While the process computes more than that: seconds from one tick to the next, of so many; beyond
# these, which may never end, the seconds to one more.
BUSY_INTERVAL = 0.5
BUSY_TICKS = 4
LATE_INTERVAL = 30.0


class TickLimiter:
    """Admits one tick at a time, up to `BUSY_TICKS` if one takes long, and up to `most` while those
    under way only wait for something else: a scheduler, a store or a disk.

    The time of a tick does not show which of both it does: on a machine with much load each takes
    long, and to start another then makes all of them slower. So the process's CPU time decides.
    """

    def __init__(self, most: int, *, cpu_seconds: Callable[[], float] = time.process_time) -> None:
        self._most, self._cpu_seconds = most, cpu_seconds
        self._next = threading.Lock()  # only one of the waiting threads wakes up to poll
        self._tick_end = threading.Condition()
        self._starts: dict[int, float] = {}  # by thread: monotonic seconds

    def acquire(self) -> None:
        """Wait for a place."""
        with self._next, self._tick_end:
            while self._starts and not self._is_another_admitted():
                pass
            self._starts[threading.get_ident()] = time.monotonic()

    def release(self) -> None:
        """Give the place back."""
        with self._tick_end:
            del self._starts[threading.get_ident()]
            self._tick_end.notify()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *error: object) -> None:
        self.release()

    def _is_another_admitted(self) -> bool:
        """Wait for the end of a tick, or see for a while whether those under way compute."""
        if len(self._starts) >= self._most:
            self._tick_end.wait()
            return False
        began, cpu_before = time.monotonic(), self._cpu_seconds()
        if self._tick_end.wait(POLL_INTERVAL):
            return False
        now = time.monotonic()
        cpu_share = (self._cpu_seconds() - cpu_before) / (now - began)
        newest = max(self._starts.values(), default=0.0)  # one may have ended since
        pause = BUSY_INTERVAL if len(self._starts) < BUSY_TICKS else LATE_INTERVAL
        return cpu_share < IDLE_SHARE or now - newest > pause
