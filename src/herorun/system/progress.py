"""The verbosity of the terminal: the command line sets it once, everything that prints or waits
reads it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

quiet = False  # only what is open, or went wrong, and the verdict
verbose = False  # every finding and every field in full
_report: Callable[[str], None] | None = None
_show: Callable[[str, int, int | None], None] | None = None


def reset(only_what_is_open: bool) -> None:
    """A command begins: forget the options of the one before it in this process."""
    global quiet, verbose, _report, _show
    quiet, verbose, _report, _show = only_what_is_open, False, None, None


def be_verbose(report: Callable[[str], None]) -> None:
    """From now on, pass what was read, and how long it took, to `log`."""
    global verbose, _report
    verbose, _report = True, report


def show_progress(show: Callable[[str, int, int | None], None]) -> None:
    """From now on `show` gets what is waited for: in words, how many are done, and of how many
    (None: unknown).
    """
    global _show
    _show = show


def log(message: str) -> None:
    if _report is not None:
        _report(message)


def progress(what: str, amount: int, total: int | None) -> None:
    """Say how far something is that may last; with `amount` = `total` it is over.

    What begins within it, as a look at one run within a look at many, is not shown.
    """
    if _show is not None:
        _show(what, amount, total)


@contextmanager
def spinner(what: str) -> Iterator[None]:
    """Show that one silent operation is under way, such as a push."""
    progress(what, 0, None)
    try:
        yield
    finally:
        progress(what, 1, 1)


def finish() -> None:
    """The command has ended, however that came: nothing is waited for any more."""
    global _show
    progress("", 1, 1)
    _show = None
