"""Atomic file writes (to a temporary file, synced, then renamed), and locks between processes of
one machine.
"""

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from herorun.core.canonical_json import sha256
from herorun.core.errors import WrongUse
from herorun.core.lazy_regex import lazy_regex
from herorun.system import progress
from herorun.system._regular_file import open_regular
from herorun.system.disk_reserve import FULL, give_up_reserve, must_have_room

_WRITER = lazy_regex(r"(\d+)-[0-9a-f]{8}\.new")  # behind the file's name and the machine
# as some file systems answer
_NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


def write_atomic(
    path: Path,
    data: bytes,
    mode: int = 0o600,
    spare: bool = False,
    sync: bool = True,
    sync_name: bool = True,
) -> None:
    """Replace a file's content so that a reader sees all of the old or all of the new.

    A `spare` file can be made again: it does not take the last space of a disk. Without `sync` a
    file may be old or cut short after a loss of power, which its reader must notice; without
    `sync_name` it may be old, and is whole.
    """
    if spare:
        must_have_room(path.parent)
    make_folders(path.parent, mode)
    temporary = _temporary_path(path)
    with _naming_the_file(path):
        _write_in_room(temporary, data, mode, spare, sync)
        try:
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
        if sync and sync_name:
            sync_folder(path.parent)


def create_atomic(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write a new file; FileExistsError if there is one.

    A reader never sees a partial file, except on a file system without hard links.
    """
    make_folders(path.parent, mode)
    temporary = _temporary_path(path)
    with _naming_the_file(path):
        _write_in_room(temporary, data, mode, False)
        try:
            _link(temporary, path, data, mode)
        finally:
            os.unlink(temporary)
        sync_folder(path.parent)


@contextlib.contextmanager
def _naming_the_file(path: Path) -> Iterator[None]:
    """Errors inside name the target file, for example on a full disk; the system names none, or the
    temporary file.
    """
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


def read_regular(path: Path, most: int) -> bytes:
    """The content of a regular file; OSError for anything else, and for one that is too large."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(errno.EFBIG, f"it is larger than {most >> 20} MiB", str(path))
        return file.read(size)  # Python allocates the requested size


def make_folders(folder: Path, mode: int = 0o600) -> None:
    """Create the folder and its missing parents; closed to others if `mode` is."""
    if os.path.isdir(folder):
        return
    missing = []
    for each in (folder, *folder.parents):
        if each.exists():
            break
        missing.append(each)
    for each in reversed(missing):
        each.mkdir(0o777 if mode & 0o077 else 0o700, exist_ok=True)


def _link(temporary: Path, path: Path, data: bytes, mode: int) -> None:
    """Create the file by a hard link, which fails if it exists, unlike rename. Without links
    (FUSE), only its creation is atomic, not its content.
    """
    try:
        os.link(temporary, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _write_new(path, data, mode)


def _write_new(path: Path, data: bytes, mode: int, sync: bool = True) -> None:
    """Write a new file; a partial one is removed, because it would keep a full disk full."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
    except BaseException:
        os.unlink(path)
        raise


def _write_in_room(path: Path, data: bytes, mode: int, spare: bool, sync: bool = True) -> None:
    """Write the file; on a full disk again with the reserve's space, unless it is spare."""
    try:
        _write_new(path, data, mode, sync)
    except OSError as error:
        if error.errno not in FULL or spare or not give_up_reserve(path.parent):
            raise
        _write_new(path, data, mode, sync)


def _temporary_path(path: Path) -> Path:
    """A name for each writer: threads share a process id, and two machines on one file system may
    have the same.
    """
    _sweep(path)
    return path.with_name(f".{path.name}.{node()}-{os.getpid()}-{os.urandom(4).hex()}.new")


def _sweep(path: Path) -> None:
    """Remove temporary files of killed writers of this file, whose process no longer exists."""
    mine = f".{path.name}.{node()}-"
    with contextlib.suppress(OSError):
        for name in os.listdir(path.parent):
            # compiled once: a fleet writes more files than the pattern cache holds
            match = _WRITER.fullmatch(name, len(mine)) if name.startswith(mine) else None
            if match and not lives(int(match[1])):
                path.with_name(name).unlink(missing_ok=True)


def lives(pid: int) -> bool:
    """Whether a process with this number exists here, of any user."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # another user's
    return True


@contextlib.contextmanager
def scratch_folder(prefix: str) -> Iterator[str]:
    """A temporary folder. Imported late: most commands need none, and `tempfile` takes 3 ms to
    import.
    """
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix=prefix) as folder:
        yield folder


@cache
def node() -> str:
    """Identifies where process ids are valid: this start of this machine, and its pid namespace."""
    parts = [os.uname().nodename]
    with contextlib.suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
        parts.append(os.readlink("/proc/self/ns/pid"))
    return sha256("\n".join(parts).encode()).hexdigest()[:8]


def sync_folder(path: str | Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def lock_file(common: Path, slug: str, name: str) -> Path:
    """A run's lock, in the git directory that all work trees of a clone share."""
    return common / "herorun" / f"{slug}.{name}.lock"


@contextlib.contextmanager
def hold_lock(path: Path, wait: float = 60.0, what: str = "another herorun") -> Iterator[None]:
    """Hold a lock file of this machine; the kernel releases it at any end of the process.

    A waiting process holds the lock `<name>.next`, which everyone takes first: otherwise a
    babysitter that takes the lock again at once could delay a person's command for a minute.
    """
    until = time.monotonic() + wait
    queue_lock = take_lock(path.with_name(f"{path.name}.next"), wait, what)
    try:
        descriptor = take_lock(path, until - time.monotonic(), what)
    finally:
        os.close(queue_lock)
    try:
        yield
    finally:
        os.close(descriptor)


class LockHeld(WrongUse):
    """Another process of this machine holds the lock now, perhaps only for a moment."""


def take_lock(path: Path, wait: float, what: str) -> int:
    """Take a lock until the returned descriptor is closed; `LockHeld` if another holds it."""
    make_folders(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    until = time.monotonic() + wait
    if _is_taken(descriptor):
        return descriptor
    with progress.spinner(f"waiting for {what}"):
        while time.monotonic() < until:
            time.sleep(0.05)
            if _is_taken(descriptor):
                return descriptor
    os.close(descriptor)
    raise LockHeld(
        f"{what} is at work on this machine (lock {path}). Wait for it, or stop it first."
    )


def _is_taken(descriptor: int) -> bool:
    """Whether the lock is ours now."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_locked(path: Path) -> bool:
    """Whether some process holds the lock right now."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)  # works on a read-only disk too
    except FileNotFoundError:
        return False
    try:
        # shared, so that two queries do not see each other
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)


def append_line(path: Path, line: str) -> None:
    """Append one line to a private, expendable file; it does not take the last space of a disk.

    A truncated line before it stays a separate line.
    """
    must_have_room(path.parent)
    make_folders(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with _naming_the_file(path), os.fdopen(descriptor, "r+b") as file:
        end = file.seek(0, os.SEEK_END)
        cut = end > 0 and os.pread(descriptor, 1, end - 1) != b"\n"
        file.write(b"\n" * cut + line.encode() + b"\n")
