"""The framing of a `.wandb` log: LevelDB's blocks of 32 KiB, in which records lie whole or in
pieces.

A block is a multiple of 32 KiB from the file's first byte, so that reading can begin at the end of
any record. An incomplete record at the file's end is ignored until it is complete.
"""

import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from herorun.trackers._tail_reader import data_after

BLOCK = 32 << 10
MAX_RECORD_BYTES = 64 << 20  # bytes of a record
_BEGIN = b":W&B\xe1\xbe"  # W&B's mark and magic number; the version follows in one byte
_HEADER = struct.Struct("<IHB")  # CRC-32 of kind and content, size, kind
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_SEED = tuple(zlib.crc32(bytes([kind])) for kind in range(256))


def records(file: BinaryIO, offset: int) -> Iterator[tuple[int, bytes | None]]:
    """The offset after each record, and the record; None for a damaged one."""
    if offset == 0:
        if not _has_begun(file):
            return
        offset = len(_BEGIN) + 1
    pieces: list[bytes] = []
    is_damaged = False  # the next pieces belong to a damaged record
    for end, kind, content in _pieces(file, offset):
        if kind in (_FULL, _FIRST):
            if pieces:
                yield end - len(content) - _HEADER.size, None
            pieces, is_damaged = [content], False
        elif pieces and kind in (_MIDDLE, _LAST) and sum(map(len, pieces)) < MAX_RECORD_BYTES:
            pieces.append(content)
        else:
            if not is_damaged:
                yield end, None
            pieces, is_damaged = [], kind not in (_FULL, _LAST)
        if pieces and kind in (_FULL, _LAST):
            yield end, pieces[0] if kind == _FULL else b"".join(pieces)
            pieces = []


def _has_begun(file: BinaryIO) -> bool:
    """Whether the file's own header is there; OSError if the file is something else."""
    file.seek(0)
    head = file.read(len(_BEGIN) + 1)
    if not head.startswith(_BEGIN[: len(head)]):
        raise OSError(f"{file.name} is no .wandb log")
    return len(head) > len(_BEGIN)


def _pieces(file: BinaryIO, at: int) -> Iterator[tuple[int, int, bytes]]:
    """The offset after each piece, its kind and its content; kind 0 for a damaged one."""
    file.seek(at)
    while block := file.read(BLOCK - at % BLOCK):
        after = at + len(block)
        is_full = after % BLOCK == 0
        if is_full and not block.strip(b"\0"):
            data = data_after(file, after)
            if data is None:
                return  # zeros that a crashed host left
            after = file.seek(data // BLOCK * BLOCK)
        for end, kind, content in _in_block(block, is_full):
            yield at + end, kind, content
        if not is_full:
            return
        at = after


def _in_block(block: bytes, is_full: bool) -> Iterator[tuple[int, int, bytes]]:
    """A damaged piece is skipped by its stated size; if that is impossible, the rest of the block
    is skipped.
    """
    at, size = 0, len(block)
    while at + _HEADER.size <= size:
        crc, length, kind = _HEADER.unpack_from(block, at)
        start = at + _HEADER.size
        end = start + length
        if end > size or not (crc or length or kind):  # torn, or zeros that a crashed host left
            if is_full:
                yield size, 0, b""
            return
        content = block[start:end]
        if zlib.crc32(content, _SEED[kind]) == crc:
            yield end, kind, content
        elif end == size and not is_full:
            return  # the newest piece of a live file may be incomplete
        else:
            yield end, 0, b""
        at = end
