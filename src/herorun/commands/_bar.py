"""A bar on standard error for what lasts longer than a second; rich is imported then, and not before."""

import threading
from time import monotonic
from typing import Any

PATIENCE = 1.0  # seconds


class Bar:
    """Called with what is waited for, as it goes on. Only the main thread has one."""

    def __init__(self, patience: float = PATIENCE, console: Any = None) -> None:
        self._patience, self._console = patience, console
        self._what, self._began = "", monotonic()
        self._shown: Any = None
        self._task: Any = None

    def __call__(self, what: str, done: int, total: int) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        if what != self._what or done >= total:
            self.end()
            self._what, self._began = what, monotonic()
        if done < total and monotonic() - self._began >= self._patience:
            self._draw(done, total)

    def _draw(self, done: int, total: int) -> None:
        if self._shown is None:
            from rich.console import Console
            from rich.progress import Progress

            self._shown = Progress(console=self._console or Console(stderr=True), transient=True)
            self._task = self._shown.add_task(self._what, total=total)
            self._shown.start()
        self._shown.update(self._task, completed=done, total=total)

    def end(self) -> None:
        """Take it away, so that nothing is written over it."""
        if self._shown is not None:
            self._shown.stop()
        self._shown = None
