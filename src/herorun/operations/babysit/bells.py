"""Wakes the sleeping loops of one process when a person rings a bell: one thread looks at all.

A thousand loops that each looked at their own every second took 4 % of a core, almost as much as
their ticks at the usual cadence.
"""

import threading
import time
from pathlib import Path

POLL_INTERVAL = 1.0  # seconds until a bell is heard, and a request to end


class WakeSignals:
    """The bells that sleeping loops listen for, each by the event that wakes its loop."""

    def __init__(self, stop_event: threading.Event) -> None:
        self._stop_event = stop_event
        self._sleepers: dict[threading.Event, tuple[Path, float]] = {}
        self._lock = threading.Lock()
        self._is_listening = False

    def wait(self, seconds: float, bell: Path, bell_time: float) -> None:
        """Sleep so many seconds, or until the bell changes after `bell_time`, or all are to end."""
        if seconds <= 0 or file_mtime(bell) != bell_time:
            return
        wake = threading.Event()
        with self._lock:
            if not self._is_listening:
                threading.Thread(target=self._listen, name="bells", daemon=True).start()
            self._is_listening = True
            self._sleepers[wake] = bell, bell_time
        try:
            wake.wait(seconds)
        finally:
            with self._lock:
                del self._sleepers[wake]

    def _listen(self) -> None:
        """Until nobody sleeps: the next sleeper starts another thread."""
        while True:
            with self._lock:
                sleepers = list(self._sleepers.items())
                self._is_listening = bool(sleepers)
            if not sleepers:
                return
            for wake, (bell, bell_time) in sleepers:
                if self._stop_event.is_set() or file_mtime(bell) != bell_time:
                    wake.set()
            time.sleep(POLL_INTERVAL)


def file_mtime(path: Path) -> float:
    """When a file was last written; 0 if it does not exist."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
