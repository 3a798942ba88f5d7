"""Protobuf's wire format, limited to reading fields by their numbers. Pure: bytes in,
fields out.
"""

import struct
from collections.abc import Iterator

VARINT, EIGHT, BYTES, FOUR = 0, 1, 2, 5  # wire types


class MalformedMessage(ValueError):
    """These bytes are no message."""


def varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at a place, and the place after it."""
    if at < len(data) and data[at] < 0x80:  # most are short
        return data[at], at + 1
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise MalformedMessage("a number without end")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data: bytes) -> Iterator[tuple[int, int, int, bytes]]:
    """Field number, wire type, and the value: a number for a varint, raw bytes for everything
    else.
    """
    at, size = 0, len(data)
    while at < size:
        key, at = varint(data, at)
        number, kind, end = key >> 3, key & 7, at
        if kind == VARINT:
            value, at = varint(data, at)
            yield number, kind, value, b""
            continue
        if kind == BYTES:
            length, at = varint(data, at)
            end = at + length
        elif kind in (EIGHT, FOUR):
            end = at + (8 if kind == EIGHT else 4)
        if end == at and kind != BYTES:
            raise MalformedMessage("a field of no known kind")
        if end > size or not number:
            raise MalformedMessage("a field beyond the end")
        yield number, kind, 0, data[at:end]
        at = end


def decode_signed(value: int) -> int:
    """A varint of an int32 or int64 field as the number that it stands for."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def zigzag(value: int) -> int:
    """A varint of a sint32 or sint64 field as the number that it stands for."""
    return (value >> 1) ^ -(value & 1)


def double(raw: bytes) -> float:
    number: float = struct.unpack("<d", raw)[0]
    return number
