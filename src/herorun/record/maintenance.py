"""Caches and packs that keep a long record fast and small on this machine; all of it can be
rebuilt.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from herorun import __version__
from herorun.core.canonical_json import canonical
from herorun.core.journal.snapshot import Remembered, from_bytes, remembered, to_bytes
from herorun.core.untrusted_json import read_json
from herorun.record.model import Content
from herorun.system.files import locked, write_atomic
from herorun.system.git import Repository

if TYPE_CHECKING:
    from herorun.system.git.repack import Pack

REMEMBER = 64  # lines after which what they amount to is kept on this machine
PACK = 64  # lines after which their commits are packed


def memory_file(repository: Repository, slug: str) -> Path:
    return repository.common / "herorun" / f"{slug}.memory.json"


def remembered_here(path: Path) -> Remembered | None:
    try:
        return from_bytes(path.read_bytes(), __version__)
    except OSError:
        return None


def due(content: Content) -> bool:
    """Whether enough is new in it to remember what it amounts to."""
    return (
        content.tip is not None
        and len(content.lines) - content.snapshot_lines >= REMEMBER
        and not content.memory.newer
    )


def remember(
    path: Path, content: Content, segments: Sequence[tuple[str, str]], data: bytes
) -> Content:
    """Keep what all lines amount to, and go on from there without them.

    `segments` are the journal's by name and object, `data` the newest's. Without it they are folded
    again, and nothing is lost but time.
    """
    last = content.last_hash, content.last_id
    amount = remembered(segments, data, last, content.count, content.memory)
    compressed = to_bytes(amount, __version__)
    if not compressed:
        return replace(content, snapshot_lines=len(content.lines))
    with contextlib.suppress(OSError):
        write_atomic(path, compressed, spare=True)
        newest = max(content.segments)
        checked = content.checked or content.remembered is None
        parts = {newest: content.segments[newest]}
        return replace(
            content, lines=[], segments=parts, remembered=amount, snapshot_lines=0, checked=checked
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

    with locked(packs_file.with_suffix(".lock"), 0.0):
        for leftover in packs_file.parent.glob(f".{packs_file.name}.*.new"):  # of a killed one
            leftover.unlink(missing_ok=True)
        write_packs(
            content.count, pack(repository, slug, content.tip, packs, partial(write_packs, lines))
        )
