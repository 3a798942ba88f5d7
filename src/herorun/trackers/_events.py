"""One event of TensorBoard as the scalars in it. Pure: bytes in, numbers out.

A scalar is a float, as TensorFlow 1, PyTorch and tensorboardX write it, or a tensor without
dimensions, as TensorFlow 2 and TensorBoard's own writer do. Texts, histograms, images and
hyperparameters are ignored.
"""

import re
import struct
import sys
from collections.abc import Iterator

from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.trackers._protobuf_wire import (
    BYTES,
    EIGHT,
    FOUR,
    VARINT,
    decode_signed,
    double,
    fields,
    varint,
)
from herorun.trackers._tensors import number_of

_WALL_TIME, _STEP, _SUMMARY = 1, 2, 5  # of Event
_VALUE = 1  # of Summary
_TAG, _SIMPLE, _TENSOR = 1, 2, 8  # of Summary.Value
_FLOAT = struct.Struct("<f")
_LONG = 256  # bytes: events of the usual form are shorter


@dataclass(frozen=True)
class Event:
    """The values of one event. A step of zero is not written, so it reads like a missing one."""

    wall_time: float
    step: int | None
    scalars: tuple[tuple[str, float], ...]


# One float under a short name, with the fields in every writer's order: the form of nearly all
# events.
_USUAL = lazy_regex(
    rb"\x09(.{8})(?:\x10([\x80-\xff]*[\0-\x7f]))?\x2a([\0-\x7f])\x0a([\0-\x7f])\x0a([\0-\x7f])(.*)\x15(.{4})",
    re.DOTALL,
)


def event_of(record: bytes) -> Event:
    """Malformed if the bytes are no event."""
    return _usual(record) or _any(record)


def _usual(record: bytes) -> Event | None:
    """The event, if it has the usual form with sizes that fit it; None for every other."""
    match = _USUAL.fullmatch(record) if len(record) < _LONG else None
    if not match:
        return None
    wall_time, step, of_summary, of_value, of_tag, tag, scalar = match.groups()
    size = len(tag)
    if (of_tag[0], of_value[0], of_summary[0]) != (size, size + 7, size + 9):
        return None
    step_number = None if step is None else decode_signed(varint(step, 0)[0])
    name = sys.intern(tag.decode("utf-8", "replace"))
    return Event(double(wall_time), step_number, ((name, float(_FLOAT.unpack(scalar)[0])),))


def _any(record: bytes) -> Event:
    wall_time, step, summary = 0.0, None, b""
    for number, kind, value, raw in fields(record):
        if (number, kind) == (_WALL_TIME, EIGHT):
            wall_time = double(raw)
        elif (number, kind) == (_STEP, VARINT):
            step = decode_signed(value)
        elif (number, kind) == (_SUMMARY, BYTES):
            summary = raw
    return Event(wall_time, step, tuple(_scalars(summary)))


def _scalars(summary: bytes) -> Iterator[tuple[str, float]]:
    for number, kind, _, value in fields(summary):
        if (number, kind) == (_VALUE, BYTES):
            tag, scalar = _scalar(value)
            if scalar is not None:
                yield tag, scalar


def _scalar(value: bytes) -> tuple[str, float | None]:
    tag, scalar = "", None
    for number, kind, _, raw in fields(value):
        if (number, kind) == (_TAG, BYTES):
            tag = sys.intern(raw.decode("utf-8", "replace"))
        elif (number, kind) == (_SIMPLE, FOUR):
            scalar = float(_FLOAT.unpack(raw)[0])
        elif (number, kind) == (_TENSOR, BYTES):
            scalar = number_of(raw)
    return tag, scalar
