"""Reads git objects, loose or packed, without starting git.

In a clone, and after each `git gc`, a contract and a record that rests are packed, and a command
asks for some of their objects dozens of times. Each object is checked against its digest, as a
loose one is: what this cannot read, or would read wrongly, is `NotLoose`, and git reads it.
"""

import os
import zlib
from collections.abc import Hashable
from functools import lru_cache
from typing import TypeAlias

from herorun.core.canonical_json import sha1, sha256
from herorun.core.lazy_dataclass import dataclass
from herorun.system.git.loose_objects import MAX_BYTES, LooseObjects, NotLoose

_Location: TypeAlias = tuple[str, int]  # the path of a pack, and the place of the object in it
_KINDS = {1: b"commit", 2: b"tree", 3: b"blob", 4: b"tag"}
_DELTA, _NAMED_DELTA = 6, 7  # against an object of the same pack, by its place or its digest
_MAX_DEPTH = 250  # deltas upon each other; git makes 50, and reads those of more itself
_INDEX = b"\377tOc\0\0\0\2"  # the start of an index of version 2
_NAMES = len(_INDEX) + 256 * 4  # where the sorted digests begin in it
_FAR = 1 << 31  # an offset with this bit is the number of a longer one
_BLOCK = 4096  # bytes
# bytes of an object that is read here where the caller gives no limit, and of all its deltas
_MAX_BYTES = 64 << 20
# a file that is gone, cut short, damaged, of another version, or made to fill the memory
_UNREADABLE = (
    OSError,
    ValueError,
    IndexError,
    OverflowError,
    MemoryError,
    RecursionError,
    zlib.error,
)


@dataclass(frozen=True)
class ObjectDatabase(LooseObjects):
    """All objects of one repository's own store."""

    def content(self, oid: str, kind: bytes, most: int | None = MAX_BYTES) -> bytes:
        """The same for a packed object too."""
        try:
            return super().content(oid, kind, most)
        except NotLoose:
            path, offset = _location(self.store, oid, _file_version(f"{self.store}/pack"))
        try:
            longest = _MAX_BYTES if most is None else most
            actual, body = _read_object(path, offset, len(oid) // 2, longest)
            sha = sha1 if len(oid) == 40 else sha256
            whole = b"%s %d\0%s" % (actual, len(body), body)
        except _UNREADABLE:
            raise NotLoose(oid) from None
        if actual != kind or sha(whole).hexdigest() != oid:
            raise NotLoose(oid)
        return body

    def _version(self, oid: str) -> Hashable:
        try:
            return super()._version(oid)
        except NotLoose:
            return _file_version(_location(self.store, oid, _file_version(f"{self.store}/pack"))[0])


def _file_version(path: str) -> Hashable:
    try:
        return _version_of(path)
    except OSError:
        raise NotLoose(path) from None


def _version_of(path: str) -> Hashable:
    stats = os.stat(path)
    return stats.st_ino, stats.st_size, stats.st_mtime_ns


@lru_cache(maxsize=4096)
def _location(store: str, oid: str, folder_version: Hashable) -> _Location:
    """Where an object is packed, until a pack comes or goes; `NotLoose` where it is in none."""
    for name in _indexes(f"{store}/pack", folder_version):
        path = f"{store}/pack/{name}"
        try:
            offset = _offset(path, bytes.fromhex(oid))
        except _UNREADABLE:
            raise NotLoose(oid) from None
        if offset is not None:
            return f"{path.removesuffix('.idx')}.pack", offset
    raise NotLoose(oid)


@lru_cache(maxsize=8)
def _indexes(folder: str, folder_version: Hashable) -> tuple[str, ...]:
    try:
        return tuple(name for name in os.listdir(folder) if name.endswith(".idx"))
    except OSError:
        raise NotLoose(folder) from None


def _offset(index: str, name: bytes) -> int | None:
    """The place of an object in the pack of an index; None if it is not in it."""
    descriptor = os.open(index, os.O_RDONLY | os.O_CLOEXEC)
    try:
        start = os.pread(descriptor, _NAMES, 0)
        if len(start) < _NAMES or not start.startswith(_INDEX):
            raise ValueError(index)
        counts, byte, width = start[len(_INDEX) :], name[0], len(name)
        first = _number(counts[4 * byte - 4 : 4 * byte])  # those whose digests begin lower
        last, total = _number(counts[4 * byte : 4 * byte + 4]), _number(counts[-4:])
        if not first <= last <= total <= os.fstat(descriptor).st_size // width:
            raise ValueError(index)
        names = os.pread(descriptor, (last - first) * width, _NAMES + first * width)
        at = names.find(name)
        while at >= 0 and at % width:
            at = names.find(name, at + 1)
        if at < 0:
            return None
        offsets = _NAMES + total * (width + 4)  # behind the digests and a checksum of each
        offset = _number(os.pread(descriptor, 4, offsets + (first + at // width) * 4))
        if offset & _FAR:
            at_far = offsets + total * 4 + (offset - _FAR) * 8
            offset = _number(os.pread(descriptor, 8, at_far))
        return offset
    finally:
        os.close(descriptor)


def _number(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _read_object(pack: str, offset: int, width: int, most: int) -> tuple[bytes, bytes]:
    """The kind and the content of an object of a pack, where neither it nor one that it is made of
    has more than `most` bytes.

    One delta is held at a time: a small pack may name thousands of large ones.
    """
    descriptor = os.open(pack, os.O_RDONLY | os.O_CLOEXEC)
    deltas, total = dict[int, tuple[int, int]](), 0  # by place: where each begins, and its size
    try:
        while (header := _header(descriptor, offset))[0] not in _KINDS:
            base, start = _base(descriptor, pack, offset, header, width)
            deltas[offset] = start, header[1]
            total += header[1]
            if base is None or base in deltas or len(deltas) > _MAX_DEPTH or total > _MAX_BYTES:
                raise ValueError(pack)
            offset = base
        kind, size, start = header
        data = _inflate_object(descriptor, start, size, most)
        for start, size in reversed(deltas.values()):
            data = _apply_delta(data, _inflate_object(descriptor, start, size, most), most)
        return _KINDS[kind], data
    finally:
        os.close(descriptor)


def _base(
    descriptor: int, pack: str, offset: int, header: tuple[int, int, int], width: int
) -> tuple[int | None, int]:
    """Where the base of a delta is, and where the delta begins."""
    kind, _, start = header
    if kind == _NAMED_DELTA:
        name = os.pread(descriptor, width, start)
        return _offset(f"{pack.removesuffix('.pack')}.idx", name), start + width
    if kind != _DELTA:
        raise ValueError(pack)
    distance, start = _distance(descriptor, start)
    return max(offset - distance, 0), start


def _header(descriptor: int, offset: int) -> tuple[int, int, int]:
    """The kind of an object, its size, and where what follows begins."""
    data = os.pread(descriptor, 16, offset)
    kind, size, shift, at = data[0] >> 4 & 7, data[0] & 15, 4, 0
    while data[at] & 128:
        at += 1
        size |= (data[at] & 127) << shift
        shift += 7
    return kind, size, offset + at + 1


def _distance(descriptor: int, offset: int) -> tuple[int, int]:
    """How far before the object its base begins, and where what follows begins."""
    data = os.pread(descriptor, 16, offset)
    distance, at = data[0] & 127, 0
    while data[at] & 128:
        at += 1
        distance = (distance + 1) << 7 | data[at] & 127
    return distance, offset + at + 1


def _inflate_object(descriptor: int, offset: int, size: int, most: int) -> bytes:
    """Exactly `size` bytes; never more are made, and none where it is more than `most`."""
    if size > most:
        raise ValueError("too large")
    stream, parts, rest = zlib.decompressobj(), list[bytes](), size
    while not stream.eof:
        block = stream.unconsumed_tail or os.pread(descriptor, _BLOCK, offset)
        if not stream.unconsumed_tail:
            offset += len(block)
        part = stream.decompress(block, rest + 1)
        rest -= len(part)
        if rest < 0 or not block:
            raise ValueError("another size")
        parts.append(part)
    if rest:
        raise ValueError("another size")
    return b"".join(parts)


def _apply_delta(base: bytes, delta: bytes, most: int) -> bytes:
    """A delta's two sizes, and its commands: a byte with the bit 128 copies from the base, another
    one says how many new bytes follow it.
    """
    source, at = _little_endian(delta, 0)
    target, at = _little_endian(delta, at)
    if source != len(base) or target > most:
        raise ValueError("another size")
    target_bytes = bytearray()  # parts of two bytes each would take twenty times as much
    while at < len(delta):
        command, at = delta[at], at + 1
        if command & 128:
            start, at = _given_bytes(delta, at, command, 4)
            count, at = _given_bytes(delta, at, command >> 4, 3)
            part = base[start : start + (count or 0x10000)]
        else:
            part, at = delta[at : at + command], at + command
        if len(target_bytes) + len(part) > target or not part:
            raise ValueError("another size")
        target_bytes += part
    return bytes(target_bytes)


def _little_endian(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while data[at] & 128:
        number |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
    return number | data[at] << shift, at + 1


def _given_bytes(delta: bytes, at: int, command: int, most: int) -> tuple[int, int]:
    """A number of which the command says which bytes are given, the lowest first."""
    number = 0
    for place in range(most):
        if command >> place & 1:
            number |= delta[at] << 8 * place
            at += 1
    return number, at
