"""A bar on standard error for what lasts longer than a second; rich is imported then, and not before."""

import sys
import threading
from time import monotonic
from typing import Any

PATIENCE = 1.0  # seconds


class Bar:
    """Called with what is waited for, as it goes on; what begins within it is not shown. Only the main thread has one."""

    def __init__(self, patience: float | None = None, console: Any = None) -> None:
        self._patience, self._console = PATIENCE if patience is None else patience, console
        self._what, self._began = "", monotonic()
        self._shown: Any = None
        self._task: Any = None

    def __call__(self, what: str, done: int, total: int | None) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        if what and self._what not in ("", what):
            return
        if total is not None and done >= total:
            self.end()
            return
        if not self._what:
            self._what, self._began = what, monotonic()
        if monotonic() - self._began >= self._patience:
            self._draw(done, total)

    def _draw(self, done: int, total: int | None) -> None:
        if self._shown is None:
            from rich.console import Console
            from rich.progress import Progress

            self._shown = Progress(
                console=self._console or Console(stderr=True),
                transient=True,
                redirect_stdout=sys.stdout.isatty(),  # what goes into a pipe is not the bar's to show
            )
            self._task = self._shown.add_task(self._what, total=total)
            self._shown.start()
        self._shown.update(self._task, completed=done, total=total)

    def end(self) -> None:
        """Take it away, so that nothing is written over it."""
        if self._shown is not None:
            self._shown.stop()
        self._shown, self._what = None, ""
