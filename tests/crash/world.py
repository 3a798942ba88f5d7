"""What befalls the world around the process: a small disk, one that is read only, and a clock that
somebody sets.
"""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

import pytest

PAGE = 4096


@contextlib.contextmanager
def small_disk(folder: Path, size: str = "8m") -> Iterator[Path]:
    """A file system of its own of a few megabytes, mounted on a folder that it makes where there is
    none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    is_mounted = _mount("-t", "tmpfs", "-o", f"size={size},mode=700", "herorun-small", str(folder))
    if is_mounted.returncode:
        pytest.skip(f"no small disk can be mounted here: {is_mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _mount(*argv: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["mount", *argv], capture_output=True, text=True, check=False)


@contextlib.contextmanager
def read_only(disk: Path) -> Iterator[None]:
    assert _mount("-o", "remount,ro", str(disk)).returncode == 0
    try:
        yield
    finally:
        assert _mount("-o", "remount,rw", str(disk)).returncode == 0


@contextlib.contextmanager
def full(disk: Path, room: int) -> Iterator[None]:
    """Full but for so many bytes."""
    inside = disk / ".git"  # where it makes no tree dirty
    ballast = (inside if inside.is_dir() else disk) / "ballast"
    with ballast.open("wb", buffering=0) as file:
        with contextlib.suppress(OSError):
            while True:
                file.write(bytes(PAGE))
        file.truncate(max(0, file.tell() - room))
    try:
        yield
    finally:
        ballast.unlink()


class Clock(datetime):
    """The machine's, off by so much."""

    by = timedelta()

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:
        return datetime.now(tz) + cls.by
