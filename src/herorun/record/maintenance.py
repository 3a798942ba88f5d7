"""Caches and packs that keep a long record fast and small on this machine; all of it can be
rebuilt.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from herorun import __version__
from herorun.core.canonical_json import canonical
from herorun.core.journal.snapshot import JournalSnapshot, build_snapshot, from_bytes, to_bytes
from herorun.core.lazy_dataclass import dataclass
from herorun.core.untrusted_json import read_json
from herorun.record.model import Content
from herorun.system.files import hold_lock, write_atomic
from herorun.system.git import Repository

if TYPE_CHECKING:
    from herorun.system.git.repack import Pack

REMEMBER = 64  # lines after which their state is stored on this machine
PACK = 64  # lines after which their commits are packed
MAX_RECENT = 4096  # records of which this process holds a snapshot


def memory_file(repository: Repository, slug: str) -> Path:
    return repository.common / "herorun" / f"{slug}.memory.json"


@dataclass(frozen=True)
class MemorySnapshot:
    """What was remembered of a record, by this process or in the file."""

    remembered: JournalSnapshot
    saved: int  # lines that the file was made from
    checked: bool = False  # as in `Content`


# by the file, as it was then; the oldest first
_recent: dict[Path, tuple[tuple[int, ...], MemorySnapshot]] = {}
_guard = Lock()


def recent_snapshot(path: Path) -> MemorySnapshot | None:
    """The newest snapshot: a babysitter opens each run again for every tick, and would read the
    lines since the file was written each time.

    Who changes or deletes the file is not overruled by what this process holds.
    """
    state, snapshot = _recent.get(path, ((), None))
    if snapshot is not None and state == _state_of(path):
        return snapshot
    try:
        amount = from_bytes(path.read_bytes(), __version__)
    except OSError:
        return None
    return MemorySnapshot(amount, amount.lines) if amount else None


def hold(path: Path, content: Content, segments: Sequence[tuple[str, str]]) -> None:
    """Let this process remember what was read or written; `segments` are the journal's by name and
    object.
    """
    if not segments or content.memory.newer:
        return
    newest = content.segments[max(content.segments)]
    last = content.last_hash, content.last_id
    amount = build_snapshot(segments, newest, last, content.count, content.memory)
    is_checked = content.checked or content.remembered is None
    with _guard:
        _recent.pop(path, None)
        _recent[path] = _state_of(path), MemorySnapshot(amount, content.saved, is_checked)
        while len(_recent) > MAX_RECENT:
            del _recent[next(iter(_recent))]


def _state_of(path: Path) -> tuple[int, ...]:
    """What changes with a file; empty where there is none."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns


def forget(path: Path) -> None:
    """Both snapshots: they are not what the journal says."""
    with _guard:
        _recent.pop(path, None)
    path.unlink(missing_ok=True)


def due(content: Content) -> bool:
    """Whether it has enough new lines to store its state."""
    return (
        content.tip is not None
        and content.count - content.saved >= REMEMBER
        and not content.memory.newer
    )


def remember(
    path: Path, content: Content, segments: Sequence[tuple[str, str]], data: bytes
) -> Content:
    """Store the state after all lines, and continue from there without them.

    `segments` are the journal's by name and object, `data` the newest's. Without it they are folded
    again, and nothing is lost but time.
    """
    last = content.last_hash, content.last_id
    amount = build_snapshot(segments, data, last, content.count, content.memory)
    snapshot_bytes = to_bytes(amount, __version__)
    if not snapshot_bytes:
        return replace(content, saved=content.count)
    with contextlib.suppress(OSError):
        write_atomic(path, snapshot_bytes, spare=True, sync=False)
        newest = max(content.segments)
        is_checked = content.checked or content.remembered is None
        parts = {newest: content.segments[newest]}
        return replace(
            content,
            lines=[],
            segments=parts,
            remembered=amount,
            saved=amount.lines,
            checked=is_checked,
        )
    return content


def pack_new(repository: Repository, slug: str, content: Content) -> None:
    """Pack what was committed, now and then."""
    from herorun.system.git.repack import pack, packs_of, rows_of

    packs_file = repository.common / "herorun" / f"{slug}.packs.json"
    if content.tip is None:
        return
    try:
        document = read_json(packs_file.read_bytes())
        lines, packs = int(document["lines"]), packs_of(document["packs"])
    except (OSError, ValueError, KeyError, TypeError):
        lines, packs = 0, []
    if 0 <= content.count - lines < PACK:
        return

    def write_packs(lines: int, packs: "Sequence[Pack]") -> None:
        write_atomic(packs_file, canonical({"lines": lines, "packs": rows_of(packs)}).encode())

    with hold_lock(packs_file.with_suffix(".lock"), 0.0):
        for leftover in packs_file.parent.glob(f".{packs_file.name}.*.new"):  # of a killed one
            leftover.unlink(missing_ok=True)
        write_packs(
            content.count, pack(repository, slug, content.tip, packs, partial(write_packs, lines))
        )
