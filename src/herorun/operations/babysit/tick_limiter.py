"""How many ticks of one process compute at the same moment.

The threads of one interpreter cannot compute side by side: with two or more, each read of a file
hands the interpreter's lock from one to another, and a tick costs twice the CPU seconds.
"""

import threading
import time

SLOW_AFTER = 0.1  # seconds, the time of two quiet ticks


class TickLimiter:
    """One tick at a time. One that is slow, because it waits for something else, does not delay
    the others: as many as `most` may be under way.
    """

    def __init__(self, most: int, slow_after: float = SLOW_AFTER) -> None:
        self._most, self._slow_after = most, slow_after
        self._next = threading.Lock()  # of all who wait, one alone wakes up to look at the clock
        self._tick_end = threading.Condition()
        self._starts: dict[int, float] = {}  # by thread: monotonic seconds

    def acquire(self) -> None:
        """Wait for a place."""
        with self._next, self._tick_end:
            while (seconds := self._seconds_to_wait()) != 0:
                self._tick_end.wait(seconds)
            self._starts[threading.get_ident()] = time.monotonic()

    def release(self) -> None:
        """Leave the place to others."""
        with self._tick_end:
            del self._starts[threading.get_ident()]
            self._tick_end.notify()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *error: object) -> None:
        self.release()

    def _seconds_to_wait(self) -> float | None:
        """0 if there is a place; None if only the end of a tick makes one."""
        if len(self._starts) >= self._most:
            return None
        newest = max(self._starts.values(), default=0.0)
        return max(0.0, newest + self._slow_after - time.monotonic()) if self._starts else 0.0
