"""Parses a record of a `.wandb` log, by the numbers of its fields. Pure: bytes in, rows and facts
out.

Unknown kinds of records and fields are ignored: every release of W&B adds some.
"""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime

from herorun.core.ports import Row
from herorun.trackers._flatten import NON_FINITE, numbers_in
from herorun.trackers._protobuf_wire import (
    BYTES,
    EIGHT,
    VARINT,
    MalformedMessage,
    decode_signed,
    double,
    fields,
    varint,
    zigzag,
)

HISTORY, CONFIG, RUN, EXIT = 2, 5, 17, 18  # of Record
_KINDS = frozenset(range(2, 28)) - {16, 19}  # a record is one of these
_ITEM, _STEP = 1, 2  # of HistoryRecord
_KEY, _NESTED_KEY = 1, 2  # of HistoryItem
_INTEGER, _NUMBER, _TEXT, _JSON, _VALUE_JSON = 5, 6, 7, 8, 16
_LONG = 0x80  # the first byte of a number that takes more than one
_VALUE_TAG = b"\x82\x01"  # of value_json
_NUM = b"\x08"  # the tag of a record's number
_names: dict[bytes, str] = {}  # of metrics: a run has some hundred, and every row has them all


def kind_of(record: bytes) -> tuple[int, bytes]:
    """A record's kind and its content; 0 for an unknown kind."""
    # Nearly every record begins with its number, then its content.
    if record[:1] == _NUM:
        _, at = varint(record, 1)
        tag = record[at] if at < len(record) else 0
        if tag < _LONG and tag & 7 == BYTES and tag >> 3 in _KINDS:
            size, start = varint(record, at + 1)
            if start + size <= len(record):
                return tag >> 3, record[start : start + size]
    for number, kind, _, content in fields(record):
        if number in _KINDS and kind == BYTES:
            return number, content
    return 0, b""


def row_of(history: bytes, attempt: str) -> Row | None:
    """A row of the history; None if it has no step."""
    values, step = _parse_history(history)
    step_value = values.pop("_step", None)
    at = _moment_of_seconds(values.pop("_timestamp", None))
    if step_value is not None and step_value.is_integer():
        step = int(step_value)
    return None if step is None else Row(step, values, at, attempt)


def _parse_history(history: bytes) -> tuple[dict[str, float], int | None]:
    """The numbers by name, and the step that the record itself states.

    Nearly every item is one short name and one short number in JSON: that form is read here, in one
    pass.
    """
    values: dict[str, float] = {}
    step, at, size = None, 0, len(history)
    while at < size:
        tag = history[at]
        length, start = varint(history, at + 1)
        at = end = start + length
        if end > size or tag not in (_ITEM << 3 | BYTES, _STEP << 3 | BYTES):
            return _values_slowly(history)
        if tag == _STEP << 3 | BYTES:
            step = _number_of(history[start:end])
            continue
        raw = _parse_usual_item(history, start, end)
        if raw is None:
            values.update(_item(history[start:end]))
            continue
        try:
            values[_decode_name(raw[0])] = float(raw[1])
        except ValueError:
            values.update(_from_json(_decode_name(raw[0]), raw[1]))
    return values, step


def _parse_usual_item(data: bytes, start: int, end: int) -> tuple[bytes, bytes] | None:
    """Name and JSON of an item of the usual form; None for every other."""
    if end - start < 5 or data[start] not in (0x0A, 0x12) or data[start + 1] >= _LONG:
        return None
    middle = start + 2 + data[start + 1]
    value = middle + 3
    if value > end or data[middle : middle + 2] != _VALUE_TAG or value + data[middle + 2] != end:
        return None
    return data[start + 2 : middle], data[value:end]


def _decode_name(raw: bytes) -> str:
    name = _names.get(raw)
    if name is None:
        name = _names[raw] = sys.intern(_decode_text(raw))
        if len(_names) > 100_000:
            _names.clear()
    return name


def _values_slowly(history: bytes) -> tuple[dict[str, float], int | None]:
    """The same for a record with unknown fields."""
    values: dict[str, float] = {}
    step = None
    for number, kind, _, content in fields(history):
        if number == _ITEM and kind == BYTES:
            values.update(_item(content))
        elif number == _STEP and kind == BYTES:
            step = _number_of(content)
    return values, step


def _number_of(step: bytes) -> int:
    """HistoryStep's number; a zero is not written."""
    return next(
        (
            decode_signed(value)
            for number, kind, value, _ in fields(step)
            if (number, kind) == (1, VARINT)
        ),
        0,
    )


def _item(item: bytes) -> Iterator[tuple[str, float]]:
    """Numbers of one item: in JSON as it is written today, or in one of the typed fields that are
    there since.
    """
    names: list[str] = []
    items: list[tuple[int, int, int, bytes]] = []
    for field in fields(item):
        if field[0] in (_KEY, _NESTED_KEY) and field[1] == BYTES:
            names.append(_decode_text(field[3]))
        else:
            items.append(field)
    name = ".".join(names)
    for number, kind, value, content in items:
        if (number, kind) == (_INTEGER, VARINT):
            yield name, float(zigzag(value))
        elif (number, kind) == (_NUMBER, EIGHT):
            yield name, double(content)
        elif (number, kind) == (_TEXT, BYTES) and (word := _decode_text(content)) in NON_FINITE:
            yield name, NON_FINITE[word]
        elif number in (_JSON, _VALUE_JSON) and kind == BYTES:
            yield from _from_json(name, content)


def _from_json(name: str, raw: bytes) -> Iterator[tuple[str, float]]:
    try:
        yield from numbers_in(name, raw)
    except ValueError:
        raise MalformedMessage("a value that is not JSON") from None


def _decode_text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _moment_of_seconds(seconds: float | None) -> datetime | None:
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
