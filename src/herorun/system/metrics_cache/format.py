"""One block: rows as columns, each with its own checksum, behind a head that says where which one
is.

A column holds a number for every row, or the places of the rows that have one and their numbers.
"""

import json
import struct
import sys
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime, timedelta
from typing import Any, BinaryIO

from herorun.core.lazy_dataclass import dataclass
from herorun.core.ports import Row
from herorun.core.ports.columnar import ColumnarRows, parts_of

# mark, rows, bytes of the index and of the columns, CRC-32 of the index
_HEAD = struct.Struct("<4sIIQI")
_MARK = b"hrc1"
NO_TIME = -(1 << 63)  # the time of a row that has none
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
OWN = ("step", "time", "attempt")  # of every row
_TYPES = {"step": "q", "time": "q", "attempt": "I"}


class DamagedBlock(ValueError):
    """These bytes are no block, or not all of one."""


@dataclass
class Column:
    """`places` are rows of the block, rising; None where every row has a number."""

    values: "array[Any]"
    places: "array[int] | None" = None


@dataclass
class Block:
    """Rows as columns. `facts` is what the block says of itself: the cursor after it, the attempts
    in it.
    """

    steps: "array[int]"
    times: "array[int]"  # microseconds since 1970
    attempts: "array[int]"
    columns: dict[str, Column] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.steps)


@dataclass(frozen=True)
class Index:
    """What a block's head says: which columns are where."""

    offset: int  # of the block
    rows: int
    size: int  # bytes of the whole block
    facts: Mapping[str, Any]
    # by column: offset, bytes in the file, CRC-32, places, packed
    parts: Mapping[str, Sequence[int]]

    @property
    def end(self) -> int:
        return self.offset + self.size

    @property
    def names(self) -> list[str]:
        return [name[1:] for name in self.parts if name.startswith("=")]

    @property
    def spans(self) -> dict[int, tuple[int, int]]:
        """The lowest and the highest step of each attempt."""
        return {int(number): (low, high) for number, (low, high) in self.facts["spans"].items()}


def block_of(rows: Sequence[Row], attempts: Sequence[int], facts: Mapping[str, Any]) -> Block:
    """Rows that fit: a step beyond 63 bits is left out."""
    blocks, first = [], 0
    for part in parts_of(rows):
        numbers = attempts[first : first + len(part)]
        if isinstance(part, ColumnarRows):
            blocks.append(_of_columns(part, numbers, facts))
        else:
            blocks.append(_of_rows(part, numbers, facts))
        first += len(part)
    return blocks[0] if len(blocks) == 1 else join_blocks(blocks)


def _of_columns(rows: ColumnarRows, attempts: Sequence[int], facts: Mapping[str, Any]) -> Block:
    times = array("q", map(_microseconds, rows.times)) or array("q", [NO_TIME]) * len(rows)
    columns = {name: Column(values) for name, values in rows.columns.items()}
    return Block(rows.steps, times, array("I", attempts), columns, facts)


def _of_rows(rows: Sequence[Row], attempts: Sequence[int], facts: Mapping[str, Any]) -> Block:
    fitting = [
        each for each in zip(rows, attempts, strict=True) if -(1 << 63) <= each[0].step < 1 << 63
    ]
    block = Block(
        array("q", (row.step for row, _ in fitting)),
        array("q", (_microseconds(row.at) for row, _ in fitting)),
        array("I", (number for _, number in fitting)),
        facts=facts,
    )
    if fitting and (columns := _full_columns([row.values for row, _ in fitting])) is not None:
        block.columns.update(columns)
        return block
    places: dict[str, array[int]] = {}
    for place, (row, _) in enumerate(fitting):
        for name, value in row.values.items():
            if name not in places:
                places[name], block.columns[name] = array("I"), Column(array("d"))
            places[name].append(place)
            block.columns[name].values.append(value)
    for name, column in block.columns.items():
        column.places = places[name] if len(places[name]) < len(fitting) else None
    return block


def _full_columns(rows: Sequence[Mapping[str, float]]) -> dict[str, Column] | None:
    """The columns of rows that all have the same ones, as most have; None for others."""
    names = list(rows[0])
    if any(list(row) != names for row in rows):
        return None
    by_column = zip(*(row.values() for row in rows), strict=True)
    return {name: Column(array("d", values)) for name, values in zip(names, by_column, strict=True)}


def join_blocks(blocks: Sequence[Block]) -> Block:
    """One block in place of all, with the last one's header."""
    total = Block(array("q"), array("q"), array("I"), facts=blocks[-1].facts)
    places: dict[str, array[int]] = {}
    for block in blocks:
        before = len(total)
        for name, column in block.columns.items():
            places.setdefault(name, array("I")).extend(
                array("I", range(before, before + len(block)))
                if column.places is None
                else array("I", (before + place for place in column.places))
            )
            total.columns.setdefault(name, Column(array("d"))).values.extend(column.values)
        total.steps.extend(block.steps)
        total.times.extend(block.times)
        total.attempts.extend(block.attempts)
    for name, column in total.columns.items():
        column.places = places[name] if len(places[name]) < len(total) else None
    return total


def encode_block(block: Block, pack: bool) -> bytes:
    """The bytes of a block; packed where it is to stay."""
    parts: dict[str, list[int]] = {}
    body: list[bytes] = []
    at = 0
    for name, places, values in _block_sections(block):
        data = _shuffle_bytes(values.tobytes(), values.itemsize) if pack else values.tobytes()
        small = zlib.compress(data, 1) if pack else data
        body += [places, small]
        raw = places + small
        parts[name] = [at, len(raw), zlib.crc32(raw), len(places), int(pack)]
        at += len(raw)
    header = {
        "order": sys.byteorder,
        "told": {**block.facts, "spans": _spans(block)},
        "parts": parts,
    }
    index = json.dumps(header, separators=(",", ":")).encode()
    return b"".join(
        [_HEAD.pack(_MARK, len(block), len(index), at, zlib.crc32(index)), index, *body]
    )


def _block_sections(block: Block) -> Iterator[tuple[str, bytes, "array[Any]"]]:
    for name, values in zip(OWN, (block.steps, block.times, block.attempts), strict=True):
        yield name, b"", values
    for name, column in block.columns.items():
        yield (
            f"={name}",
            column.places.tobytes() if column.places is not None else b"",
            column.values,
        )


def _spans(block: Block) -> dict[int, tuple[int, int]]:
    if len(set(block.attempts)) == 1:
        return {block.attempts[0]: (min(block.steps), max(block.steps))}
    spans: dict[int, tuple[int, int]] = {}
    for number, step in zip(block.attempts, block.steps, strict=True):
        low, high = spans.get(number, (step, step))
        if number not in spans or step < low or step > high:
            spans[number] = min(low, step), max(high, step)
    return spans


def ends_of(file: BinaryIO, size: int) -> list[tuple[int, int, int]]:
    """Where each block begins and ends, and how many rows it has. Only its first bytes are read."""
    blocks, at = [], 0
    while at + _HEAD.size <= size:
        file.seek(at)
        mark, rows, index, body, _ = _HEAD.unpack(file.read(_HEAD.size))
        end = at + _HEAD.size + index + body
        if mark != _MARK or end > size:
            break
        blocks.append((at, end, rows))
        at = end
    return blocks


def index_at(file: BinaryIO, offset: int = 0) -> Index:
    """What the block there says of itself; `DamagedBlock` if there is none."""
    file.seek(offset)
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size:
        raise DamagedBlock("torn")
    mark, rows, size, body, crc = _HEAD.unpack(head)
    raw = file.read(size) if mark == _MARK else b""
    if mark != _MARK or len(raw) < size or zlib.crc32(raw) != crc:
        raise DamagedBlock("no block")
    document = json.loads(raw)
    if document["order"] != sys.byteorder:
        raise DamagedBlock("written on a machine of another kind")
    first = offset + _HEAD.size + size
    parts = {name: (first + part[0], *part[1:]) for name, part in document["parts"].items()}
    return Index(offset, rows, _HEAD.size + size + body, document["told"], parts)


def column_at(file: BinaryIO, index: Index, name: str) -> Column | None:
    """One column of a block; None where no row has it. `DamagedBlock` if its bytes are not those
    that were written.
    """
    if name not in index.parts:
        return None
    offset, size, crc, places, is_packed = index.parts[name]
    file.seek(offset)
    raw = file.read(size)
    if len(raw) < size or zlib.crc32(raw) != crc:
        raise DamagedBlock(f"its column {name.removeprefix('=')}")
    values = array(_TYPES.get(name, "d"))
    data = raw[places:]
    values.frombytes(
        _unshuffle_bytes(zlib.decompress(data), values.itemsize) if is_packed else data
    )
    return Column(values, array("I", raw[:places]) if places else None)


def block_at(file: BinaryIO, index: Index) -> Block:
    """The whole block; `DamagedBlock` if any part is."""
    steps, times, attempts = (own_at(file, index, name) for name in OWN)
    names = index.names
    columns = {name: column for name in names if (column := column_at(file, index, f"={name}"))}
    return Block(steps, times, attempts, columns, index.facts)


def own_at(file: BinaryIO, index: Index, name: str) -> "array[Any]":
    """Steps, times or attempts, which every block has."""
    column = column_at(file, index, name)
    if column is None:
        raise DamagedBlock(f"its column {name} is missing")
    return column.values


def _microseconds(at: datetime | None) -> int:
    return NO_TIME if at is None else (at - _EPOCH) // _MICROSECOND


def _shuffle_bytes(data: bytes, width: int) -> bytes:
    """The first bytes of all numbers, then the second ones: like stands next to like, and packs
    well.
    """
    return b"".join(data[i::width] for i in range(width))


def _unshuffle_bytes(data: bytes, width: int) -> bytes:
    out, size = bytearray(len(data)), len(data) // width
    for i in range(width):
        out[i::width] = data[i * size : (i + 1) * size]
    return bytes(out)
