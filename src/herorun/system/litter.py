"""What `git fast-import` and a fetch leave where they fail or are killed: a crash report, and what they had begun to write.

git removes such files after two weeks, if somebody lets it; until then they fill a disk that is full. Only ours go: a
report that names our import, or is empty and of that second; and beside it, files of this user from those seconds that no process has
open. What cannot be told from somebody else's stays.
"""

import contextlib
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

OURS = b"# refs/herorun/"  # how our imports begin; a report lists the newest commands
NEAR = 5.0  # seconds around the failure in which its files were last written
_REPORT = re.compile(r"fast_import_crash_(\d+)")
_again: dict[Path, list[tuple[float, float]]] = {}  # by git directory, seconds whose files were still held
_BEGUN = ("tmp_pack_", "tmp_idx_", "tmp_obj_")


def sweep(common: Path, since: float | None = None) -> None:
    """Remove the litter of our imports; `since` is when one began that has just failed, by this machine's clock."""
    moments = [since, time.time()] if since is not None else []
    for report in _reports(common):
        with contextlib.suppress(OSError):
            text, at = report.read_bytes(), report.stat().st_mtime
            empty = not text and since is not None and at >= since - 1.0 and not _lives(report)
            if OURS in text or empty:
                report.unlink()
                moments.append(at)
    windows = _again.pop(common, [])
    windows += [(min(moments) - NEAR, max(moments) + NEAR)] if moments else []
    if left := [window for window in windows if not _remove_begun(common / "objects", *window)]:
        _again[common] = left


def _reports(common: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        for name in os.listdir(common):
            if _REPORT.fullmatch(name):
                yield common / name


def _lives(report: Path) -> bool:
    found = _REPORT.fullmatch(report.name)
    return found is not None and Path(f"/proc/{found[1]}").exists()


def _remove_begun(objects: Path, first: float, last: float) -> bool:
    """Whether all of those seconds is gone; a child of the failed git may hold its file for a moment longer."""
    begun = [
        path
        for folder in (objects / "pack", *objects.glob("[0-9a-f][0-9a-f]"))
        for path in _begun_in(folder)
        if (told := _told(path)) and told[0] == os.geteuid() and first <= told[1] <= last
    ]
    held = _open_files() if begun else set()
    gone = True
    for path in begun:
        with contextlib.suppress(OSError):
            found = path.stat()
            if held is None or (found.st_dev, found.st_ino) in held:
                gone = held is None and gone  # nobody can tell: another try would be in vain
            else:
                path.unlink()
    return gone


def _begun_in(folder: Path) -> list[Path]:
    try:
        return [folder / name for name in os.listdir(folder) if name.startswith(_BEGUN)]
    except OSError:
        return []


def _told(path: Path) -> tuple[int, float] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_uid, found.st_mtime


def _open_files() -> set[tuple[int, int]] | None:
    """Device and number of every file that a process of this user has open; None where the system does not tell."""
    if not Path("/proc/self/fd").is_dir():
        return None
    held = set()
    for path in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            found = path.stat()
            held.add((found.st_dev, found.st_ino))
    return held
