"""Add rows. Durable on return; what a crash leaves behind is no block and is dropped by the next
one who writes.
"""

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from herorun.core.canonical_json import plain
from herorun.core.decode import decode
from herorun.core.detectors.attempts import AttemptTracker
from herorun.core.detectors.names import Names
from herorun.core.ports import Row
from herorun.system.files import make_folders, sync_folder, write_atomic
from herorun.system.metrics_cache.coarsen import MAX_BYTES, coarsen
from herorun.system.metrics_cache.format import (
    Block,
    DamagedBlock,
    block_at,
    block_of,
    encode_block,
    ends_of,
    index_at,
    join_blocks,
)
from herorun.system.metrics_cache.layout import (
    FULL,
    OPEN,
    file_path,
    files_in,
    generation_folders,
    number_of,
)

# An open file is full when it has one of these: a tick looks at the head of each of its blocks.
FULL_ROWS = 32_768
FULL_BLOCKS = 256
FULL_BYTES = 8 << 20
OLDER = 2  # generations that are kept next to the newest


class Writer:
    """Adds to the newest generation, or begins another where that one is of another source."""

    def __init__(self, folder: Path, source: str, most: int = MAX_BYTES) -> None:
        self._folder, self._most = folder, most
        self._source = source
        newest = generation_folders(folder)[-1:]
        self._generation = newest[0] if newest else folder / "0001"
        self._blocks: list[tuple[int, int, int]] = []  # of the open file
        self._number = 0
        self._facts = self._find_end()
        if self._facts and self._facts["source"] != source:
            self.start_over()

    @property
    def cursor(self) -> str:
        """The tracker's cursor behind the last row; empty where there is none."""
        return str(self._facts["cursor"]) if self._facts else ""

    @property
    def fetched_at(self) -> datetime | None:
        """When the last row was fetched."""
        return datetime.fromisoformat(self._facts["at"]) if self._facts else None

    def start_over(self) -> None:
        """The rows that come are of another source, or of the same one that began again. The older
        ones stay.
        """
        if self._facts:
            self._generation = self._folder / f"{int(self._generation.name) + 1:04d}"
            self._blocks, self._number, self._facts = [], 0, {}

    def append(self, rows: Sequence[Row], cursor: str, names: Names, at: datetime) -> None:
        """Add rows, and the cursor behind them. `names` tell the loss, by which a new attempt is
        known.
        """
        if not rows:
            return
        attempts = (
            decode(AttemptTracker, self._facts["arrivals"]) if self._facts else AttemptTracker()
        )
        numbers = attempts.attempts_of(rows, names)
        facts = {
            "source": self._source,
            "cursor": cursor,
            "at": at.isoformat(),
            "arrivals": plain(attempts),
        }
        self._add(block_of(rows, numbers, facts))
        self._facts = facts

    def _add(self, block: Block) -> None:
        if not self._generation.exists():
            make_folders(self._generation)
            sync_folder(self._folder)
            self._forget_older()
        if not self._blocks and len(block) >= FULL_ROWS:
            self._fill([block])
            return
        offset = self._blocks[-1][1] if self._blocks else 0
        end = offset + _append_data(
            file_path(self._generation, self._number, OPEN), offset, encode_block(block, False)
        )
        self._blocks.append((offset, end, len(block)))
        rows = sum(rows for _, _, rows in self._blocks)
        if rows >= FULL_ROWS or len(self._blocks) >= FULL_BLOCKS or end >= FULL_BYTES:
            self._fill(self._open_blocks())

    def _open_blocks(self) -> list[Block]:
        with file_path(self._generation, self._number, OPEN).open("rb") as file:
            return [block_at(file, index_at(file, offset)) for offset, _, _ in self._blocks]

    def _fill(self, blocks: Sequence[Block]) -> None:
        """Write one full file in place of the open one."""
        write_atomic(
            file_path(self._generation, self._number, FULL), encode_block(join_blocks(blocks), True)
        )
        file_path(self._generation, self._number, OPEN).unlink(missing_ok=True)
        self._number, self._blocks = self._number + 1, []
        coarsen(self._generation, self._most)

    def _find_end(self) -> Mapping[str, Any]:
        """What the last whole block says; nothing where there is none. Looks at the newest file or
        two.
        """
        for path in reversed(files_in(self._generation)):
            self._number = number_of(path)
            try:
                if path.suffix == f".{OPEN}":
                    facts = self._last_of(path)
                else:
                    facts = _full(path)
                    self._number += 1
            except DamagedBlock:
                facts = {}
            if facts:
                return facts
            path.unlink(missing_ok=True) if path.suffix == f".{FULL}" else None
        return {}

    def _last_of(self, path: Path) -> Mapping[str, Any]:
        with path.open("rb") as file:
            self._blocks = ends_of(file, path.stat().st_size)
            while self._blocks:
                try:
                    index = index_at(file, self._blocks[-1][0])
                    block_at(file, index)
                    return index.facts
                except DamagedBlock:
                    self._blocks.pop()
        return {}

    def _forget_older(self) -> None:
        older = generation_folders(self._folder)[: -OLDER - 1]
        if not older:
            return
        from shutil import rmtree

        for folder in older:
            rmtree(folder, ignore_errors=True)


def _full(path: Path) -> Mapping[str, Any]:
    with path.open("rb") as file:
        return index_at(file).facts


def _append_data(path: Path, offset: int, data: bytes) -> int:
    """Put data at `offset`, where the whole blocks end, and drop what is there; return its size."""
    is_new = not path.exists()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.truncate(offset)
        file.seek(offset)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if is_new:
        sync_folder(path.parent)
    return len(data)
