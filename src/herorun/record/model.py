"""The content of a record: the journal's files and lines, and their state. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import datetime

from herorun.core.event import Event, Initialised
from herorun.core.journal import START, JournalLine, Memory
from herorun.core.journal.snapshot import JournalSnapshot
from herorun.core.lazy_dataclass import dataclass

# bytes after which a day continues in another file: each line rewrites its own
SEGMENT = 128 * 1024


@dataclass(frozen=True)
class FoldedMemory:
    """The memory, and which lines it was folded from."""

    memory: Memory
    lines: int
    newest: str  # id of the last of them


@dataclass(frozen=True)
class Pushed:
    """How a push ended. `why` is empty when the remote has everything."""

    why: str = ""

    def __bool__(self) -> bool:
        return not self.why


@dataclass(kw_only=True)
class Content:
    """The record at one commit, parsed: the lines after what was `remembered`, or all of them."""

    tip: str | None = None
    lines: list[JournalLine] = field(default_factory=list)
    segments: dict[str, bytes] = field(default_factory=dict)
    page: tuple[int, str] | None = None  # the logbook's newest, by number; None: not read yet
    memory: Memory = field(default_factory=Memory)
    remembered: JournalSnapshot | None = None
    saved: int = 0  # how many of the lines this machine's snapshot file covers
    checked: bool = False  # the stored state covers all the lines before

    @property
    def last_hash(self) -> str:
        if self.lines:
            return self.lines[-1].hash
        return self.remembered.hash if self.remembered else START

    @property
    def last_id(self) -> str:
        if self.lines:
            return self.lines[-1].id
        return self.remembered.id if self.remembered else ""

    @property
    def count(self) -> int:
        """All lines, those that were remembered included."""
        return len(self.lines) + (self.remembered.lines if self.remembered else 0)


def segment_at(folder: str, at: datetime, segments: Mapping[str, bytes]) -> str:
    """The day's file, or the next of that day; never an earlier one than the newest, also when the
    clock steps back.
    """
    today = f"{folder}/{at:%Y%m%d}.jsonl"
    newest = max(today, max(segments, default=today))
    return newest if len(segments.get(newest, b"")) < SEGMENT else _next(newest)


def _next(segment: str) -> str:
    """`20260101.jsonl`, `20260101_002.jsonl`, `20260101_003.jsonl`: in this order by name too. The
    999th holds the rest.
    """
    day, _, number = segment.removesuffix(".jsonl").rpartition("/")[2].partition("_")
    folder = segment.rpartition("/")[0]
    return f"{folder}/{day}_{min(999, int(number or 1) + 1):03}.jsonl"


def places(segments: Mapping[str, bytes], known_bytes: int = 0) -> Iterable[tuple[str, str]]:
    """Every line after the first `known_bytes` bytes, by its place."""
    for path in sorted(segments):
        lines = segments[path][known_bytes:].splitlines()
        before = segments[path].count(b"\n", 0, known_bytes)
        for number, raw in enumerate(lines, start=before + 1):
            yield f"{path}:{number}", raw.decode("utf-8", "replace")
        known_bytes = 0


def missing(ours: Content, theirs: Content) -> list[Event]:
    """Our events that they do not have. A run begins once: of two beginnings, the one that was
    pushed stands.
    """
    ids = {line.id for line in theirs.lines}
    is_begun = theirs.memory.initialised is not None
    return [
        line.event
        for line in ours.lines
        if line.id not in ids and not (is_begun and isinstance(line.event, Initialised))
    ]
