"""A pod's log, read on from where it was read before: each byte once. Pure.

Kubernetes reads a log on by a time alone, and by whole seconds. So a reader goes back some seconds
to a moment of which it knows how many bytes it has had since, and leaves out as many: lines of one
second are neither lost nor read twice. A log that its node has rotated has lost what was before:
then the time of the newest line shows what is new.
"""

import hashlib
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeAlias

from herorun.core.canonical_json import canonical
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import LogPart
from herorun.core.untrusted_json import read_json

_STAMP = lazy_regex(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) ")
_CHUNK = 16 << 10  # bytes: a longer line gets a time at each of them
# Seconds to go back: the two outputs of a container are written by two threads, each with its times
_BACK = 5
_BILLION = 10**9


@dataclass(frozen=True)
class LogMark:
    """How far the log of a pod was read."""

    pod: str  # its uid, and how often its container was started again
    since: int = 0  # a whole second of the epoch; 0 is the beginning
    size: int = 0  # bytes that were read of the lines since then
    digest: str = hashlib.sha256(b"").hexdigest()  # of these
    newest: int = 0  # nanoseconds of the epoch, of the newest line that was read

    @property
    def text(self) -> str:
        return canonical([self.pod, self.since, self.size, self.digest, self.newest])

    @property
    def since_time(self) -> str:
        return f"{datetime.fromtimestamp(self.since, UTC):%Y-%m-%dT%H:%M:%SZ}"


def mark_of(text: str) -> LogMark | None:
    """None for a text that is no mark."""
    try:
        pod, since, size, digest, newest = read_json(text.encode())
        return LogMark(str(pod), int(since), int(size), str(digest), int(newest))
    except (ValueError, TypeError):
        return None


# nanoseconds of the epoch, and the line as its program wrote it
StampedLine: TypeAlias = tuple[int, bytes]


def stamped_lines(data: bytes) -> list[StampedLine]:
    """What `timestamps=true` answers; a line without a time has that of the one before."""
    lines, at = [], 0
    for line in _split(data) if b"\r" in data else data.splitlines(keepends=True):
        match = _STAMP.match(line)
        if match:
            at, line = _nanoseconds(match), line[match.end() :]
        lines.append((at, _without_inner_times(line) if len(line) > _CHUNK else line))
    return lines


def _split(data: bytes) -> list[bytes]:
    """At newlines alone: a progress bar's states end with a carriage return."""
    return re.findall(rb"[^\n]*\n|[^\n]+$", data)


def _nanoseconds(match: re.Match[bytes]) -> int:
    second, fraction, zone = (part.decode() if part else "" for part in match.groups())
    try:
        second_at = datetime.fromisoformat(second + ("+00:00" if zone == "Z" else zone))
    except ValueError:
        return 0
    return int(second_at.timestamp()) * _BILLION + int(fraction.ljust(9, "0") or 0)


def _without_inner_times(line: bytes) -> bytes:
    parts = []
    while len(line) > _CHUNK and (match := _STAMP.match(line, _CHUNK)):
        parts.append(line[:_CHUNK])
        line = line[match.end() :]
    return b"".join((*parts, line))


def part_of(
    lines: Sequence[StampedLine], mark: LogMark, offset: int, limit: int, now: datetime
) -> LogPart:
    """The next bytes. `lines` are the log since the mark; `offset` is where the mark stands in the
    whole log, or from the beginning where it has none.
    """
    text = b"".join(line for _, line in lines)
    start = _unread_from(lines, text, mark) if mark.since or mark.size else offset
    end = min(len(text), start + limit)
    newest = max((at for at, _ in lines), default=0)
    changed_at = min(now, datetime.fromtimestamp(newest / _BILLION, UTC)) if newest else None
    size = offset + len(text) - start
    after = _mark_at(lines, mark, end)
    return LogPart(text[start:end], offset + end - start, size, after.text, changed_at=changed_at)


def _unread_from(lines: Sequence[StampedLine], text: bytes, mark: LogMark) -> int:
    """Where that begins which was not read yet."""
    if _sha256(text[: mark.size]) == mark.digest:
        return mark.size
    start = position = 0
    for at, line in lines:
        position += len(line)
        start = position if at <= mark.newest else start
    return start


def _mark_at(lines: Sequence[StampedLine], mark: LogMark, end: int) -> LogMark:
    lines_before, position = [], 0
    for at, line in lines:
        if position >= end:
            break
        lines_before.append((at, line[: end - position]))
        position += len(line)
    newest = max((mark.newest, *(at for at, _ in lines_before)))
    since = max(mark.since, newest // _BILLION - _BACK)
    data = b"".join(line for at, line in lines_before if at >= since * _BILLION)
    return LogMark(mark.pod, since, len(data), _sha256(data), newest)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
