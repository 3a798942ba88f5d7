"""File operations of a store on a path, for the store `local` and, on the remote machine, for the
same by ssh: there its source is sent with each query.

Standard library only, from Python 3.8 on. Both keep the same locks, so that a job on the machine
and herorun elsewhere do not lose each other's writes.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from herorun.system._regular_file import MAX_BYTES, open_regular

OWN = "_herorun"  # what herorun itself writes into a root
LOCK_WAIT = 10.0  # seconds
_READABLE = 0o644  # the mode of a new file
# as some file systems answer
_NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


def list_entries(path: str) -> list[Any]:
    """Name, time, size and whether it is a link, of each; a folder's name ends with a slash, and it
    has no size.
    """
    with os.scandir(path) as listing:
        return [entry for entry in map(_stat_entry, listing) if entry]


def list_names(path: str) -> list[str]:
    """The names alone, as in `list_entries`; nothing is asked of the files."""
    with os.scandir(path) as listing:
        return [f"{entry.name}/" if _is_folder(entry) else entry.name for entry in listing]


def read_bytes(path: str) -> bytes:
    """The content, up to a limit: a sparse file of gigabytes must not exhaust the memory."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > MAX_BYTES:
            raise OSError(errno.EFBIG, f"it is larger than {MAX_BYTES >> 20} MiB", path)
        return file.read(size)  # Python allocates the requested size


def read_end(path: str, count: int) -> bytes:
    with open_regular(path) as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - count))
        return file.read(count)


def generation(path: str) -> str:
    """A path has no generations: facts that change at every write are used instead."""
    facts = os.stat(path)
    return f"{facts.st_ino}-{facts.st_size}-{facts.st_mtime_ns}"


def create_bytes(
    path: str, data: bytes, create: Callable[[str, bytes], None] | None = None
) -> None:
    """`create` writes the file, if the caller has more to do for it than this module does."""
    _make_folder(os.path.dirname(path))
    (create or _create_atomic)(path, data)


def swap_bytes(
    path: str,
    before: bytes,
    after: bytes,
    replace: Callable[[str, bytes, int], None] | None = None,
) -> bool:
    """Safe between processes of the machine, and between machines where the file system carries
    flock. `replace` is as `create` for `create_bytes`.
    """
    # a missing file is reported before a lock is made next to it
    mode = stat.S_IMODE(os.stat(path).st_mode)
    with _lock_of(path):
        if read_bytes(path) != before:
            return False
        (replace or _replace_atomic)(path, after, mode)
        return True


def probe(root: str) -> None:
    """Write, list, read, rename and delete a file of its own, and leave nothing behind."""
    home = os.path.join(root, OWN)
    file = os.path.join(home, f"probe-{uuid.uuid4().hex}")
    data = file.encode("utf-8", "surrogateescape")
    name, new_name = os.path.basename(file), f"{file}-renamed"
    steps: tuple[tuple[str, Callable[[], object]], ...] = (
        ("write", lambda: _create_atomic(file, data)),
        ("list", lambda: _raise_unless(name in os.listdir(home), "a new file is not listed")),
        (
            "read",
            lambda: _raise_unless(
                read_bytes(file) == data, "other bytes came back than were written"
            ),
        ),
        ("rename", lambda: os.rename(file, new_name)),
        ("delete", lambda: os.unlink(new_name)),
    )
    is_there = os.path.lexists(home)
    _try_step("make", root, lambda: _make_folder(home))
    try:
        for word, act in steps:
            _try_step(word, root, act)
    finally:
        for leftover in (file, new_name):
            with contextlib.suppress(OSError):
                os.unlink(leftover)
        if not is_there:
            with contextlib.suppress(OSError):  # another process has begun to use it: it stays
                os.rmdir(home)


# --- how ------------------------------------------------------------------------------------------


def _stat_entry(entry: os.DirEntry[str]) -> Any:
    """None if it was removed since the listing: only a missing folder may raise "not there"."""
    try:
        if _is_folder(entry):
            return [f"{entry.name}/", entry.stat().st_mtime, None, entry.is_symlink()]
        # a link to nowhere has only its own
        facts = entry.stat(follow_symlinks=os.path.exists(entry.path))
    except FileNotFoundError:
        return None
    return [entry.name, facts.st_mtime, facts.st_size, entry.is_symlink()]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """A link to a folder is one. A link that leads nowhere is none; one that cannot be followed
    raises.
    """
    try:
        return entry.is_dir()
    except OSError as error:
        if error.errno == errno.ELOOP:
            return False
        raise


def _make_folder(folder: str) -> None:
    try:
        os.makedirs(folder or ".", exist_ok=True)
    except FileExistsError:  # must not be taken for "the file is there already"
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder) from None


def _create_atomic(path: str, data: bytes) -> None:
    """Create the file by a hard link, which fails if it exists, unlike rename. Without links
    (FUSE), only its creation is atomic, not its content.
    """
    with _naming_the_file(path):
        temporary = _temporary_path(path, data, _READABLE)
        try:
            os.link(temporary, path)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            _put(path, data, _READABLE)
        finally:
            os.unlink(temporary)
        _sync(os.path.dirname(path))


def _replace_atomic(path: str, data: bytes, mode: int) -> None:
    with _naming_the_file(path):
        temporary = _temporary_path(path, data, mode)
        try:
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
        _sync(os.path.dirname(path))


@contextlib.contextmanager
def _naming_the_file(path: str) -> Iterator[None]:
    """Errors inside name the target file, for example on a full disk; the system names none, or the
    temporary file.
    """
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = path, None
        raise


def _temporary_path(path: str, data: bytes, mode: int) -> str:
    name = f".{os.path.basename(path)}.{os.getpid()}-{uuid.uuid4().hex[:8]}.new"
    return _put(os.path.join(os.path.dirname(path), name), data, mode)


def _put(path: str, data: bytes, mode: int) -> str:
    """Write a new file; a partial one is removed."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        os.unlink(path)
        raise
    return path


def _sync(folder: str) -> None:
    descriptor = os.open(folder or ".", os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _lock_of(path: str) -> Iterator[None]:
    lock = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.lock")
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    until = time.monotonic() + LOCK_WAIT
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise TimeoutError(
                        errno.ETIMEDOUT, "it stays locked by another process", path
                    ) from None
                time.sleep(0.05)
        yield
    finally:
        os.close(descriptor)


def _try_step(word: str, root: str, act: Callable[[], object]) -> None:
    """A plain OSError names the step: whatever failed, it must not be read as "not there" or "there
    already".
    """
    try:
        act()
    except OSError as error:
        raise OSError(f"cannot {word} under {root}/{OWN}: {error.strerror or error}") from error


def _raise_unless(fact: bool, why: str) -> None:
    if not fact:
        raise OSError(why)
