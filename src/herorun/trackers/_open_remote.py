"""Opens a tracker's file on this machine, or on the one where the job runs."""

import os
from pathlib import Path

from herorun.core.errors import WrongUse
from herorun.core.ports import Place
from herorun.core.redaction.scrub import scrub
from herorun.core.remote.target import RemoteTarget
from herorun.trackers._tail_reader import Opener, open_local


def opener(reach: RemoteTarget | None) -> Opener:
    """The function that opens a growing file there."""
    if reach is None:
        return open_local
    from herorun.system.remote_file import open_remote

    return lambda path, offset: open_remote(reach, str(path), offset)


def file_path(kind: str, option: str, place: Place) -> Path:
    """`[tracker] path`: absolute, or relative to the output root; `WrongUse` if that is not a file
    path.
    """
    path = os.path.join(place.output_root, option)
    if "://" in path or "\0" in path:
        raise WrongUse(
            f"The tracker {kind} reads files on a disk, and {scrub(path)!r} is not one: give "
            "[tracker] an absolute `path`."
        )
    return Path(path)


def local_path(kind: str, option: str, place: Place) -> Path:
    """The same; refused for a remote machine, whose path would be read on this one."""
    if place.reach:
        raise WrongUse(
            f"The tracker {kind} reads files of this machine, but the job writes on "
            f"{place.reach.login.host}: use the tracker jsonl, which reads them there, or one "
            "with a server, such as wandb."
        )
    return file_path(kind, option, place)
