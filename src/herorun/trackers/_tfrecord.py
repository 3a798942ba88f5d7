"""The framing of TensorBoard's event files: size, checksum of the size, content, checksum of the
content.

An incomplete event at the file's end is ignored until it is complete.
"""

import struct
from collections.abc import Iterator
from typing import BinaryIO

from herorun.core.lazy_regex import lazy_regex
from herorun.trackers._crc32c import compute_masked_checksum
from herorun.trackers._tail_reader import MAX_ZEROS, data_after

_HEADER = struct.Struct("<QI")  # size, and its masked CRC-32C
_FOOTER = 4  # bytes: the masked CRC-32C of the content
_NOT_ZERO = lazy_regex(rb"[^\0]")
_SLAB = 8 << 20  # bytes that are read together
_MAX_EVENT_BYTES = 64 << 20  # bytes of an event: a larger size is a damaged one


def records(file: BinaryIO, offset: int) -> Iterator[tuple[int, bytes | None]]:
    """The offset after each event, and the event; None for a damaged one. An incomplete one at the
    end is left for later.
    """
    size, skipped_bytes = _SLAB, 0
    while True:
        file.seek(offset)
        data = file.read(size)
        before = offset
        if len(data) == size and not data.strip(b"\0"):
            after = data_after(file, offset + size)
            if after is None or skipped_bytes > MAX_ZEROS:
                return
            skipped_bytes += size
            offset = after - _HEADER.size  # a header may begin with zeros
            yield offset, None
            continue
        for end, record in _in_slab(data, len(data) == size):
            offset = before + end
            yield offset, record
        if len(data) < size:
            return
        size = _SLAB if offset > before else size * 4  # for an event larger than what is read


def _in_slab(data: bytes, more: bool) -> Iterator[tuple[int, bytes | None]]:
    at = 0
    while at + _HEADER.size <= len(data):
        size, crc = _HEADER.unpack_from(data, at)
        if size > _MAX_EVENT_BYTES or compute_masked_checksum(data[at : at + 8]) != crc:
            header = _next_header(data, at + 1)
            if header is None and not more:
                return  # a torn end, or zeros that a crashed host left
            yield (at := header or max(at + 1, len(data) - _HEADER.size)), None
            if header is None:
                return  # the header may cross the end of what was read
            continue
        start = at + _HEADER.size
        at = start + size + _FOOTER
        if at > len(data):
            return
        checksum = int.from_bytes(data[at - _FOOTER : at], "little")
        record = data[start : at - _FOOTER]
        yield at, record if compute_masked_checksum(record) == checksum else None


def _next_header(data: bytes, at: int) -> int | None:
    """Where the next event seems to begin: a size below 16 MiB and its own checksum."""
    zeros = data.find(bytes(5), at + 3)
    while zeros >= 0 and zeros + 9 <= len(data):
        start = zeros - 3
        size, crc = _HEADER.unpack_from(data, start)
        if size and compute_masked_checksum(data[start : start + 8]) == crc:
            return start
        # No size of zero begins an event, so that of a long run of zeros, as in a sparse file, only
        # the ends count.
        zeros = data.find(bytes(5), zeros + 1 if size else _run_end(data, zeros) - 4)
    return None


def _run_end(data: bytes, at: int) -> int:
    """Where the run of zeros ends; never before the next place to be read."""
    match = _NOT_ZERO.search(data, at)
    return max(match.start() if match else len(data), at + 5)
