"""The end of a log as it was last read, for when its pod is gone. It lies in the run's state
folder; another machine does not have it.
"""

import time
from datetime import UTC, datetime
from pathlib import Path

from herorun.core.canonical_json import timestamp
from herorun.core.ports import LogPart
from herorun.core.redaction.scrub import scrub
from herorun.system.files import write_atomic

_ALL = 1 << 30  # lines
_MARK = "kept"
_RESAVE_INTERVAL = 30.0  # seconds: a log that is followed is not saved again at each query
MANY = 1000  # lines: reading fewer saves nothing, since an earlier query may have read more


def keep_log(folder: Path, instance: str, text: str) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    data = scrub(text).encode("utf-8", "surrogateescape")
    write_atomic(_path(folder, instance), data, spare=True)


def last_lines(folder: Path, instance: str, lines: int) -> str:
    """With a line that says of when it is; FileNotFoundError where none was read."""
    path = _path(folder, instance)
    try:
        text = path.read_bytes().decode("utf-8", "replace")
        read_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except FileNotFoundError:
        raise FileNotFoundError(2, "It has no pod, and no log was saved", instance) from None
    end = f"[the pod is gone: this is its log as it was read at {timestamp(read_at)}]\n"
    newest = text.splitlines(keepends=True)[-lines:] if lines > 0 else []
    tail = "".join(newest)
    return tail + ("\n" if tail and not tail.endswith("\n") else "") + end if lines > 0 else ""


def part_of_kept(folder: Path, instance: str, offset: int, limit: int, mark: str) -> LogPart:
    """A part of the saved log. A mark of the pod's own log means that its reader has all of it."""
    if mark not in ("", _MARK):
        return LogPart(b"", offset, offset, mark)
    data = last_lines(folder, instance, _ALL).encode()
    start = offset if offset <= len(data) else 0
    part = data[start : start + limit]
    end = start + len(part)
    return LogPart(part, end, len(data), _MARK, restarted=start != offset)


def is_recently_saved(folder: Path, instance: str) -> bool:
    try:
        return time.time() - _path(folder, instance).stat().st_mtime < _RESAVE_INTERVAL
    except FileNotFoundError:
        return False


def _path(folder: Path, instance: str) -> Path:
    return folder / f"{instance}.log"
