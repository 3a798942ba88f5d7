"""A tensor of one number, as TensorFlow's messages hold it. Pure: bytes in, a number out."""

import struct
from collections.abc import Iterator

from herorun.trackers._protobuf_wire import (
    BYTES,
    EIGHT,
    FOUR,
    VARINT,
    MalformedMessage,
    decode_signed,
    fields,
    varint,
)

_DTYPE, _SHAPE, _CONTENT, _HALF = 1, 2, 4, 13  # of TensorProto
_BFLOAT16, _HALF_FLOAT = 14, 19
# A tensor's type to how its content is laid out; a text, a complex number or a resource is no
# scalar.
_LAYOUT = {
    1: "<f",
    2: "<d",
    3: "<i",
    4: "<B",
    5: "<h",
    6: "<b",
    9: "<q",
    _HALF_FLOAT: "<e",
    22: "<I",
    23: "<Q",
}
_LISTS = {5: "<f", 6: "<d"}  # of fixed width; the others are varints
_WHOLE = frozenset((7, 10, 16, 17))


def number_of(tensor: bytes) -> float | None:
    """The number of a tensor without dimensions; None for every other tensor."""
    dtype, content = 0, b""
    numbers: list[float] = []
    for number, kind, value, raw in fields(tensor):
        if (number, kind) == (_DTYPE, VARINT):
            dtype = value
        elif number == _SHAPE and raw:
            return None
        elif (number, kind) == (_CONTENT, BYTES):
            content = raw
        else:
            numbers += _parse_tensor_list(number, kind, value, raw, dtype)
    if content:
        return _from_content(dtype, content)
    return numbers[0] if len(numbers) == 1 and (dtype in _LAYOUT or dtype == _BFLOAT16) else None


def _from_content(dtype: int, raw: bytes) -> float | None:
    if dtype == _BFLOAT16:
        return _bfloat16(raw)
    layout = _LAYOUT.get(dtype)
    if not layout or len(raw) != struct.calcsize(layout):
        return None
    return float(struct.unpack(layout, raw)[0])


def _parse_tensor_list(number: int, kind: int, value: int, raw: bytes, dtype: int) -> list[float]:
    """What one of the lists of a tensor holds, packed or not."""
    if number in _LISTS and kind in (FOUR, EIGHT, BYTES):
        return [
            float(item) for (item,) in struct.iter_unpack(_LISTS[number], _fitting(number, raw))
        ]
    if number not in _WHOLE and number != _HALF:
        return []
    integers = [value] if kind == VARINT else list(_varints(raw))
    if number == _HALF:
        return [_half(bits, dtype) for bits in integers]
    return [float(item if number in (16, 17) else decode_signed(item)) for item in integers]


def _fitting(number: int, raw: bytes) -> bytes:
    if len(raw) % struct.calcsize(_LISTS[number]):
        raise MalformedMessage("a list that ends in the middle of a number")
    return raw


def _half(bits: int, dtype: int) -> float:
    raw = struct.pack("<H", bits & 0xFFFF)
    return _bfloat16(raw) if dtype == _BFLOAT16 else float(struct.unpack("<e", raw)[0])


def _bfloat16(raw: bytes) -> float:
    if len(raw) != 2:
        raise MalformedMessage("a number of the wrong size")
    return float(struct.unpack("<f", b"\0\0" + raw)[0])


def _varints(raw: bytes) -> Iterator[int]:
    at = 0
    while at < len(raw):
        value, at = varint(raw, at)
        yield value
