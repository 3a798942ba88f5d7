"""How many ticks of one process compute at the same moment.

The threads of one interpreter cannot compute in parallel: with two or more, each read of a file
passes the interpreter's lock to another thread, and a tick costs twice the CPU seconds.
"""

import threading
import time

SLOW_AFTER = 0.1  # seconds, the time of two quiet ticks


class TickLimiter:
    """Admits one tick at a time. A slow tick, which waits for something else, does not delay the
    others: up to `most` may run.
    """

    def __init__(self, most: int, slow_after: float = SLOW_AFTER) -> None:
        self._most, self._slow_after = most, slow_after
        self._next = threading.Lock()  # only one of the waiting threads wakes up to check the time
        self._tick_end = threading.Condition()
        self._starts: dict[int, float] = {}  # by thread: monotonic seconds

    def acquire(self) -> None:
        """Wait for a place."""
        with self._next, self._tick_end:
            while (seconds := self._seconds_to_wait()) != 0:
                self._tick_end.wait(seconds)
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

    def _seconds_to_wait(self) -> float | None:
        """0 if there is a place; None if only the end of a tick will free one."""
        if len(self._starts) >= self._most:
            return None
        newest = max(self._starts.values(), default=0.0)
        return max(0.0, newest + self._slow_after - time.monotonic()) if self._starts else 0.0
