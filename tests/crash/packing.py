"""A packing that kills itself: `python packing.py <work> <call> <before|after>`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from crash.faults import Fault, kill_self
from herorun.record import Record, maintenance
from herorun.system.git import Repository, find_repository, repack

STEPS: tuple[tuple[Any, str], ...] = (
    *((repack, name) for name in ("_write_pack", "_put", "_list_packed", "sync_folder")),
    *((os, name) for name in ("replace", "unlink")),
    (shutil, "rmtree"),
)
CUT = "cut"  # killed while git is being told what to pack; git goes on with what it has heard


def open_record(work: Path) -> Record:
    return Record(find_repository(work), "tiny", "herorun/tiny", None, lambda: "")


def pack_all(work: Path, fault: Fault | None = None) -> None:
    """Pack all that there is, whatever little it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maintenance, "PACK", 1)
        under = open_record(work)
        assert under.tip
        for owner, name in STEPS if fault else ():
            label = f"{owner.__name__.rpartition('.')[2]}.{name}"
            patch.setattr(owner, name, fault.wrap(label, getattr(owner, name)))
        under.pack_refs()


def cut_off(self: Repository, *args: str, stdin: bytes = b"", env: Any = None, **_: Any) -> Any:
    """As `Repository.git`, for `pack-objects`: half of what it is to pack is told, and then nobody
    is there.
    """
    process = subprocess.Popen(
        ["git", *args],
        cwd=self.top,
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **env},
    )
    assert process.stdin
    process.stdin.write(stdin[: stdin.index(b"\n", len(stdin) // 2) + 1])
    process.stdin.flush()
    kill_self()


def main(work: str, at: str, moment: str) -> None:
    if at == CUT:
        real = Repository.git
        Repository.git = lambda self, *args, **options: (
            cut_off if args[0] == "pack-objects" else real
        )(self, *args, **options)
        pack_all(Path(work))
    else:
        pack_all(Path(work), Fault(int(at), moment == "after", kill_self))


if __name__ == "__main__":
    main(*sys.argv[1:])
