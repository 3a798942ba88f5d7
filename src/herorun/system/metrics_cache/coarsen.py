"""Keep the rows of a run below a size on disk: beyond it every second of the oldest rows goes.

No check needs them again: the detectors have processed each row once, and this cache can be
deleted. Reports draw fewer points of the distant past. Rows with a NaN or an infinity stay, and so
do the first and the last of each attempt.
"""

import math
from array import array
from collections.abc import Iterator
from pathlib import Path

from herorun.system.files import write_atomic
from herorun.system.metrics_cache.format import (
    Block,
    Column,
    DamagedBlock,
    block_at,
    encode_block,
    index_at,
)
from herorun.system.metrics_cache.layout import FULL, files_in

# bytes of one source's full files, packed: about 18 million rows of 5 metrics, all of them kept
MAX_BYTES = 512 << 20
MIN_ROWS = 64  # of a file that is thinned again


def coarsen(generation: Path, most: int) -> None:
    """The file with the most rows first, of these the oldest, until it is little enough."""
    full = [path for path in files_in(generation) if path.suffix == f".{FULL}"]
    sizes = {path: path.stat().st_size for path in full}
    if sum(sizes.values()) <= most:
        return
    rows = {path: _row_count(path) for path in full}
    while sum(sizes.values()) > most:
        path = max(full, key=lambda each: rows[each])
        if rows[path] < MIN_ROWS:
            return
        before, rows[path] = rows[path], _thin(path)
        sizes[path] = path.stat().st_size
        if rows[path] > before * 3 // 4:  # all that is not finite stays
            rows[path] = 0


def _row_count(path: Path) -> int:
    """None of a damaged file, which is read again from its source."""
    try:
        with path.open("rb") as file:
            return index_at(file).rows
    except DamagedBlock:
        return 0


def _thin(path: Path) -> int:
    """The rows that are left."""
    try:
        with path.open("rb") as file:
            block = thin_block(block_at(file, index_at(file)))
    except DamagedBlock:
        return 0
    write_atomic(path, encode_block(block, True), spare=True)
    return len(block)


def thin_block(block: Block) -> Block:
    """Every second row, and those that must stay."""
    places = sorted({*range(1, len(block), 2), *_to_stay(block)})
    new_places = {place: number for number, place in enumerate(places)}
    columns = {name: _of_rows(column, new_places) for name, column in block.columns.items()}
    return Block(
        array("q", (block.steps[place] for place in places)),
        array("q", (block.times[place] for place in places)),
        array("I", (block.attempts[place] for place in places)),
        {name: column for name, column in columns.items() if column.values},
        block.facts,
    )


def _of_rows(column: Column, new_places: dict[int, int]) -> Column:
    pairs = [
        (new_places[place], value) for place, value in _place_values(column) if place in new_places
    ]
    values = array("d", (value for _, value in pairs))
    is_complete = len(pairs) == len(new_places)
    return Column(values, None if is_complete else array("I", (place for place, _ in pairs)))


def _to_stay(block: Block) -> Iterator[int]:
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for place, attempt in enumerate(block.attempts):
        first.setdefault(attempt, place)
        last[attempt] = place
    yield from (*first.values(), *last.values())
    for column in block.columns.values():
        yield from (place for place, value in _place_values(column) if not math.isfinite(value))


def _place_values(column: Column) -> Iterator[tuple[int, float]]:
    places = range(len(column.values)) if column.places is None else column.places
    return zip(places, column.values, strict=True)
