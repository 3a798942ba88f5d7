"""A progress bar on standard error for work that takes longer than a second; rich is imported only
then.
"""

import sys
import threading
from time import monotonic
from typing import Any

PATIENCE = 1.0  # seconds


class Bar:
    """Called with the work and its progress. Work that begins during other work is not shown, nor
    is work of other threads than the main one.
    """

    def __init__(self, patience: float | None = None, console: Any = None) -> None:
        self._patience, self._console = PATIENCE if patience is None else patience, console
        self._what, self._began = "", monotonic()
        self._progress: Any = None
        self._task: Any = None
        self._alone = threading.Lock()
        self._timer: threading.Timer | None = None

    def __call__(self, what: str, amount: int, total: int | None) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        if what and self._what not in ("", what):
            return
        if total is not None and amount >= total:
            self.end()
            return
        if not self._what:
            self._what, self._began = what, monotonic()
            if total is None:
                self._draw_later()
        if monotonic() - self._began >= self._patience:
            self._draw(amount, total)

    def _draw_later(self) -> None:
        """Work without progress reports, such as a push, is drawn by a timer once it has taken
        `PATIENCE`.
        """
        self._timer = threading.Timer(self._patience, self._draw, (0, None, self._began))
        self._timer.daemon = True
        self._timer.start()

    def _draw(self, amount: int, total: int | None, began: float | None = None) -> None:
        with self._alone:
            # the work that the timer was for has ended
            if not self._what or began not in (None, self._began):
                return
            if self._progress is None:
                self._begin(total)
            self._progress.update(self._task, completed=amount, total=total)

    def _begin(self, total: int | None) -> None:
        from rich.console import Console
        from rich.progress import Progress

        self._progress = Progress(
            console=self._console or Console(stderr=True),
            transient=True,
            redirect_stdout=sys.stdout.isatty(),  # in a pipe, rich must not touch standard output
        )
        self._task = self._progress.add_task(self._what, total=total)
        self._progress.start()

    def end(self) -> None:
        """Remove the bar, so that later output does not overwrite it."""
        with self._alone:
            if self._timer is not None:
                self._timer.cancel()
            if self._progress is not None:
                self._progress.stop()
            self._progress, self._what, self._timer = None, "", None
