"""The verbosity of the terminal: the command line sets it once, everything that prints or waits
reads it.
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

quiet = False  # only open findings, errors and the verdict
verbose = False  # every finding and every field in full
shows_ticks = False  # standard error would repeat the alerts and actions of each tick
_report: Callable[[str], None] | None = None
_show: Callable[[str, int, int | None], None] | None = None


def reset(only_what_is_open: bool) -> None:
    """Reset the options at a command's start, because a process may run several commands."""
    global quiet, verbose, shows_ticks, _report, _show
    quiet, verbose, shows_ticks = only_what_is_open, False, False
    _report, _show = None, None


def show_ticks() -> None:
    """From now on the command prints each tick on standard output. If that is where standard error
    goes too, no alert is posted there a second time.
    """
    global shows_ticks
    shows_ticks = _have_one_destination()


def _have_one_destination() -> bool:
    try:
        output, errors = (os.fstat(stream.fileno()) for stream in (sys.stdout, sys.stderr))
    except (OSError, ValueError, AttributeError):  # closed, or no file
        return False
    return (output.st_dev, output.st_ino) == (errors.st_dev, errors.st_ino)


def be_verbose(report: Callable[[str], None]) -> None:
    """From now on, pass messages about what was read, and how long it took, to `report`."""
    global verbose, _report
    verbose, _report = True, report


def show_progress(show: Callable[[str, int, int | None], None]) -> None:
    """From now on `show` gets the progress: the work as text, how much is done, and the total
    (None: unknown).
    """
    global _show
    _show = show


def log(message: str) -> None:
    if _report is not None:
        _report(message)


def progress(what: str, amount: int, total: int | None) -> None:
    """Report the progress of work that may take long; with `amount` = `total` it is done.

    Work that begins during other work, such as reading one of many runs, is not shown.
    """
    if _show is not None:
        _show(what, amount, total)


@contextmanager
def spinner(what: str) -> Iterator[None]:
    """Show that an operation without progress reports is running, such as a push."""
    progress(what, 0, None)
    try:
        yield
    finally:
        progress(what, 1, 1)


def hide() -> None:
    """From now on nothing is shown: this process works for another one, which shows it."""
    global _show
    _show = None


def finish() -> None:
    """The command has ended: remove the progress display."""
    global _show
    progress("", 1, 1)
    _show = None
