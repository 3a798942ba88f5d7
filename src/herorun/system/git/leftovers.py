"""Removes what a failed or killed `git fast-import` or fetch leaves: a crash report and partial
files.

git removes such files after two weeks, if somebody lets it; until then they fill a disk that is
full. A killed git leaves no report, so each of our writing calls is marked in a file while it runs;
it may also leave the lock of one of our refs, which would refuse every later write. Only ours go: a
report that names our import, or is empty and of that second; and files of this user from the time
of such a report or of such a call, that no process has open. What may be somebody else's stays.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from herorun.core.lazy_regex import lazy_regex
from herorun.system.files import lives, make_folders, node

OURS = b"# refs/herorun/"  # how our imports begin; a report lists the newest commands
NEAR = 5.0  # seconds around a failure in which its files were last written
MAX_SECONDS = 600.0  # seconds; no git call that writes objects may take longer
_REPORT = lazy_regex(r"fast_import_crash_(\d+)")
_MARK = lazy_regex(r"([0-9a-f]{8}|failed)-(\d+)-[0-9a-f]{8}")
_TEMPORARY = ("tmp_pack_", "tmp_idx_", "tmp_obj_")


@contextlib.contextmanager
def sweep_after(common: Path) -> Iterator[None]:
    """Around one git call that writes objects: what it leaves is removed now, or by a later
    `sweep`.
    """
    since, folder = time.time(), _marks(common)
    mark = folder / f"{node()}-{os.getpid()}-{os.urandom(4).hex()}"
    with contextlib.suppress(OSError):  # a full disk
        make_folders(folder)
        mark.touch(0o600)
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            mark.rename(mark.with_name(f"failed-{os.getpid()}-{os.urandom(4).hex()}"))
        sweep(common, since)
        raise
    with contextlib.suppress(OSError):
        mark.unlink()


def sweep(common: Path, since: float | None = None) -> None:
    """Remove the litter of our calls; `since` is when one began that has just failed, by this
    machine's clock.
    """
    if since is not None:
        _remove_begun(common, since - NEAR, time.time() + NEAR)
    for report in _reports(common):
        with contextlib.suppress(OSError):
            text, at = report.read_bytes(), report.stat().st_mtime
            empty = not text and since is not None and at >= since - 1.0 and not _is_running(report)
            ours = OURS in text and _remove_begun(common, at - NEAR, at + NEAR)
            if ours or empty:
                report.unlink()
    for mark, began in _find_ended_marks(common):
        if _remove_begun(common, began - NEAR, began + MAX_SECONDS):
            mark.unlink(missing_ok=True)


def _marks(common: Path) -> Path:
    return common / "herorun" / "writing"


def _find_ended_marks(common: Path) -> Iterator[tuple[Path, float]]:
    """Marks of calls that failed, or whose process is gone, here or on another machine; and when
    they began.
    """
    folder = _marks(common)
    with contextlib.suppress(OSError):
        for name in sorted(os.listdir(folder)):
            parts = _MARK.fullmatch(name)
            if parts is None or (status := _status(mark := folder / name)) is None:
                continue
            is_git_gone = parts[1] == node() and not lives(int(parts[2]))
            if parts[1] == "failed" or is_git_gone or status[1] < time.time() - 2 * MAX_SECONDS:
                yield mark, status[1]


def _reports(common: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        for name in os.listdir(common):
            if _REPORT.fullmatch(name):
                yield common / name


def _is_running(report: Path) -> bool:
    match = _REPORT.fullmatch(report.name)
    return match is not None and lives(int(match[1]))


def _remove_begun(common: Path, first: float, last: float) -> bool:
    """Whether all of those seconds is gone; a git that outlives the process that called it still
    holds its file.
    """
    leftovers = [
        path
        for path in (*_objects(common / "objects"), *(common / "refs" / "herorun").rglob("*.lock"))
        if (status := _status(path)) and status[0] == os.geteuid() and first <= status[1] <= last
    ]
    open_files = _open_files() if leftovers else set()
    all_gone = True
    for path in leftovers:
        with contextlib.suppress(OSError):
            stats = path.stat()
            # a live git holds a ref's lock for a moment, without the file being open
            locks = path.suffix == ".lock" and stats.st_mtime > time.time() - NEAR
            if open_files is None or locks or (stats.st_dev, stats.st_ino) in open_files:
                # it is unknown: another try would be in vain
                all_gone = open_files is None and all_gone
            else:
                path.unlink()
    return all_gone


def _objects(objects: Path) -> Iterator[Path]:
    for folder in (objects / "pack", *objects.glob("[0-9a-f][0-9a-f]")):
        yield from _begun_in(folder)


def _begun_in(folder: Path) -> list[Path]:
    try:
        return [folder / name for name in os.listdir(folder) if name.startswith(_TEMPORARY)]
    except OSError:
        return []


def _status(path: Path) -> tuple[int, float] | None:
    try:
        stats = path.stat()
    except OSError:
        return None
    return stats.st_uid, stats.st_mtime


def _open_files() -> set[tuple[int, int]] | None:
    """Device and number of every file that a process of this user has open; None where the system
    does not tell.
    """
    if not Path("/proc/self/fd").is_dir():
        return None
    open_ids = set()
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        for path in _files_of(Path("/proc", pid, "fd")):
            with contextlib.suppress(OSError):
                stats = path.stat()
                open_ids.add((stats.st_dev, stats.st_ino))
    return open_ids


def _files_of(folder: Path) -> list[Path]:
    """What a process has open; nothing of one that has ended meanwhile, or is another user's."""
    try:
        return list(folder.iterdir())
    except OSError:
        return []
