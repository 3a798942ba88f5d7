"""Files on paths of this machine, network mounts included.

A read that hangs, as on a dead mount, is cut off by the deadline of whoever gathers.
"""

import contextlib
import os
import stat
import uuid
from collections.abc import Callable, Iterator
from errno import ELOOP
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from herorun.core.errors import WrongUse
from herorun.core.ports import Place
from herorun.core.scrub import scrub
from herorun.system.files import create_whole, hold, write_whole

OWN = "_herorun"  # what herorun itself writes into a root
LOCK_WAIT = 10.0  # seconds


class Options(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def connect(options: Options, place: Place) -> "LocalStore":
    return LocalStore()


class LocalStore:
    """See `core.ports.Store`; names that are not UTF-8 are kept by surrogate escapes."""

    def names(self, path: str) -> tuple[str, ...]:
        with os.scandir(_local(path)) as entries:
            return tuple(sorted(f"{entry.name}/" if _is_folder(entry) else entry.name for entry in entries))

    def read(self, path: str) -> bytes:
        file = _local(path)
        kind = file.stat().st_mode
        if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
            raise OSError(f"{path} is not a regular file")  # opening a pipe would wait for ever
        return file.read_bytes()

    def create(self, path: str, data: bytes) -> None:
        file = _local(path)
        _make_folder(file.parent)
        create_whole(file, data)

    def swap(self, path: str, before: bytes, after: bytes) -> bool:
        """Safe between processes of this machine, and between machines where the file system carries flock."""
        file = _local(path)
        mode = stat.S_IMODE(file.stat().st_mode)  # a missing file is said before a lock is made beside it
        with _lock_of(file):
            if self.read(path) != before:
                return False
            write_whole(file, after, mode)
            return True

    def probe(self, root: str) -> None:
        home = _local(root) / OWN
        file, moved = (home / f"probe-{uuid.uuid4().hex}{end}" for end in ("", "-renamed"))
        data = file.name.encode()
        steps: tuple[tuple[str, Callable[[], object]], ...] = (
            ("write", lambda: create_whole(file, data)),
            ("list", lambda: _demand(file.name in os.listdir(home), "a new file is not listed")),
            ("read", lambda: _demand(file.read_bytes() == data, "other bytes came back than were written")),
            ("rename", lambda: os.rename(file, moved)),
            ("delete", lambda: os.unlink(moved)),
        )
        with _probed_folder(home, root):
            try:
                for word, act in steps:
                    _try(word, root, act)
            finally:
                for left in (file, moved):
                    with contextlib.suppress(OSError):
                        left.unlink(missing_ok=True)


@contextlib.contextmanager
def _probed_folder(home: Path, root: str) -> Iterator[None]:
    """The folder to probe in; taken away again if it was not there before."""
    there = os.path.lexists(home)
    _try("make", root, lambda: _make_folder(home))
    try:
        yield
    finally:
        if not there:
            with contextlib.suppress(OSError):  # somebody has begun to use it: it stays
                home.rmdir()


def _try(word: str, root: str, act: Callable[[], object]) -> None:
    """A plain OSError names the step: whatever failed, nobody may read it as "not there" or "there already"."""
    try:
        act()
    except OSError as error:
        raise OSError(f"cannot {word} under {root}/{OWN}: {error.strerror or error}") from error


def _demand(fact: bool, why: str) -> None:
    if not fact:
        raise OSError(why)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """A link to a folder is one. A link that leads nowhere is none; one that cannot be followed raises."""
    try:
        return entry.is_dir()
    except OSError as error:
        if error.errno == ELOOP:
            return False
        raise


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:  # must not be taken for "the file is there already"
        raise NotADirectoryError(f"{folder} is a file and not a folder") from None


@contextlib.contextmanager
def _lock_of(file: Path) -> Iterator[None]:
    try:
        held = hold(file.with_name(f".{file.name}.lock"), LOCK_WAIT, "another process")
    except WrongUse:
        raise TimeoutError(f"{file} stayed locked by another process for {LOCK_WAIT:g} s") from None
    try:
        yield
    finally:
        os.close(held)


def _local(path: str) -> Path:
    if not path or "\0" in path or "://" in path:
        raise WrongUse(f"{scrub(path)!r} is no local path, and the store `local` is for local paths only.")
    return Path(path)
