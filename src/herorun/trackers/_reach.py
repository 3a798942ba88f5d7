"""Where a tracker's file lies: on this machine, or on the box where the job runs."""

import os
import stat
from pathlib import Path
from typing import BinaryIO

from herorun.core.errors import WrongUse
from herorun.core.ports import Place
from herorun.core.reach import Reach
from herorun.system.far_file import open_far


def open_growing(path: Path, reach: Reach | None, offset: int) -> tuple[BinaryIO, float]:
    """The file, to be read from an offset on, and when it last changed, in seconds by the clock of its machine."""
    if reach:
        return open_far(reach, str(path), offset)
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(f"{path} is not a regular file")  # opening a pipe would wait for ever
    file = path.open("rb")
    return file, os.fstat(file.fileno()).st_mtime


def must_lie_here(place: Place, kind: str) -> None:
    """A tracker that reads files of this machine would take another machine's path for its own."""
    if place.reach:
        raise WrongUse(
            f"The tracker {kind} reads files of this machine, and the job's lie on {place.reach.login.host}: "
            "use the tracker jsonl, which reads them there, or one with a server, as wandb."
        )
