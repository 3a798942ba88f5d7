"""Detects that another herorun was installed over the running one, and restarts into it.

A process that runs for weeks imports some modules late, such as those of a relaunch. Modules of
another version would not fit the loaded ones.
"""

import os
import sys
import time
from pathlib import Path
from typing import NoReturn, TypeAlias

from herorun.core.errors import CouldNotLook
from herorun.system.process import run

Stamp: TypeAlias = tuple[int, int] | None

_FILE = Path(__file__).parents[1] / "__init__.py"
RETRY = 10.0  # seconds between two polls of an installation that is not complete
_START = 60.0  # seconds that an import may take on a slow file system
# An installer removes the old files first, and writes the new ones one by one.
_IS_COMPLETE = (
    "import herorun.cli; from importlib.metadata import files; "
    "raise SystemExit(not all(each.locate().exists() for each in files('herorun') or ()))"
)


class VersionReplaced(Exception):
    """Another installed version can replace this process."""

    def __str__(self) -> str:
        return "another herorun was installed here: this process starts again from it"


def _stamp() -> Stamp:
    try:
        state = _FILE.stat()
    except OSError:
        return None
    return state.st_ino, state.st_mtime_ns


class OwnPackage:
    """The files of herorun at this process's start."""

    def __init__(self) -> None:
        self._stamp = _stamp()
        self._next_look = 0.0

    def must_be_the_same(self) -> None:
        """Raises `VersionReplaced` once another installation is complete; nothing before."""
        if _stamp() == self._stamp or time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + RETRY
        try:
            answer = run([sys.executable, "-P", "-c", _IS_COMPLETE], _START)
        except CouldNotLook:
            return
        if answer.code == 0:
            raise VersionReplaced


def restart_process() -> NoReturn:
    """The same command in the same process, from the files that are installed now."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
