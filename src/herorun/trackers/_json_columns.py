"""Many lines of JSON as columns: the rows that `parse_row` gives line by line, in a third of its
time.

Consecutive lines with the same names become columns. Unusual lines are left to `parse_row`, which
alone decides about errors and special values.
"""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from sys import intern
from typing import Any

from herorun.core.ports import Row
from herorun.core.ports.columnar import ColumnarRows
from herorun.core.row_bounds import MAX_STEP
from herorun.trackers._json_rows import (
    LOOSE_TIME_KEY,
    STEP_KEYS,
    TIME_KEYS,
    UnusableLine,
    parse_number,
    parse_row,
    parse_time,
)

FEW_BYTES = 1 << 17  # `json` reads them while the quick parser is imported, in 30 ms
MIN_LINES = 16  # lines: fewer are no quicker as columns
_NUMBERS = frozenset({int, float})
_NO_NUMBERS = frozenset({bool, list, str})  # but for a text that is a number
_REFUSED_LINE: tuple[()] = ()  # in place of a line that the quick parser refuses

Columns = dict[str, Sequence[Any]]
Complain = Callable[[int, UnusableLine], None]  # the number of the line, from 0


class _OddLine(Exception):
    """A line differs from the others, or its values are not plain."""


def parse_rows(
    lines: Sequence[bytes], complain: Complain, step_keys: tuple[str, ...] = STEP_KEYS
) -> Iterator[Sequence[Row]]:
    """The rows of the lines, in order."""
    if sum(map(len, lines)) < FEW_BYTES:
        yield list(_row_by_row(lines, range(len(lines)), complain, step_keys))
        return
    records, first = _records(lines), 0
    for keys, group in groupby(_keys_of(records)):
        end = first + sum(1 for _ in group)
        try:
            if not keys or end - first < MIN_LINES:
                raise _OddLine
            yield _columnar(records[first:end], keys, step_keys)
        except _OddLine:
            yield list(_row_by_row(lines, range(first, end), complain, step_keys))
        first = end


def _row_by_row(
    lines: Sequence[bytes], numbers: range, complain: Complain, step_keys: tuple[str, ...]
) -> Iterator[Row]:
    for number in numbers:
        try:
            if row := parse_row(lines[number], step_keys):
                yield row
        except UnusableLine as why:
            complain(number, why)


def _records(lines: Sequence[bytes]) -> list[Any]:
    """The value of each line; `_REFUSED_LINE` for one that is blank, broken, or not JSON alone.

    What this parser accepts, `json` gives the same value of, to the last bit; it refuses more.
    """
    from pydantic_core import from_json

    records: list[Any] = []
    remaining = iter(lines)
    while len(records) < len(lines):
        try:
            records.extend(map(from_json, remaining))  # keeps those before the one that raises
        except ValueError:
            records.append(_REFUSED_LINE)
    return records


def _keys_of(records: Sequence[Any]) -> Iterator[tuple[str, ...] | None]:
    """The names in each object; None of what is no object."""
    if set(map(type, records)) == {dict}:
        return map(tuple, records)
    return (tuple(record) if type(record) is dict else None for record in records)


def _columnar(
    records: Sequence[Mapping[str, Any]], keys: Sequence[str], step_keys: tuple[str, ...]
) -> ColumnarRows:
    """The columns of objects with the same keys."""
    columns = _split_columns(records, keys)
    fields, metrics = _fields_and_metrics(columns)
    key = next((key for key in step_keys if key in fields), "")
    steps, (clock, times) = _read_steps(fields.get(key, ())), _read_times(fields)
    numbers = {}
    for name, values in metrics.items():
        if name in (key, clock) or name in TIME_KEYS or _has_no_number(values):
            continue
        if not _NUMBERS.issuperset(map(type, values)):
            raise _OddLine
        try:
            numbers[intern(name)] = array("d", values)
        except OverflowError:  # an integer beyond every float
            raise _OddLine from None
    return ColumnarRows(steps, numbers, times)


def _split_columns(records: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> Columns:
    by_key = zip(*(record.values() for record in records), strict=True)
    return dict(zip(keys, by_key, strict=True))


def _fields_and_metrics(columns: Columns) -> tuple[Columns, Columns]:
    """The fields with the step, and the metrics, separated as `parse_row` does."""
    if "json_logger" not in columns.get("tracker", ()):
        fields = _flatten_columns(columns, "", {})
        return fields, fields
    for name, value in (("tracker", "json_logger"), ("event", "log")):
        if any(each != value for each in columns.get(name, ("",))):
            raise _OddLine
    metrics_columns = columns.pop("metrics", ())
    if set(map(type, metrics_columns)) != {dict}:
        raise _OddLine
    metrics = _flatten_objects(metrics_columns, "", {})
    return {**metrics, **_flatten_columns(columns, "", {})}, metrics


def _flatten_columns(columns: Columns, prefix: str, leaves: Columns) -> Columns:
    """The leaves under slash-joined names, added to `leaves`; null is no observation."""
    for name, values in columns.items():
        types = set(map(type, values))
        if types == {dict}:
            _flatten_objects(values, f"{prefix}{name}/", leaves)
        elif types != {type(None)}:
            if dict in types or type(None) in types:
                raise _OddLine
            leaves[f"{prefix}{name}"] = values
    return leaves


def _flatten_objects(records: Sequence[Mapping[str, Any]], prefix: str, leaves: Columns) -> Columns:
    keys = set(map(tuple, records))
    if len(keys) > 1:
        raise _OddLine
    return _flatten_columns(_split_columns(records, keys.pop()), prefix, leaves)


def _has_no_number(values: Sequence[Any]) -> bool:
    if type(values[0]) not in _NO_NUMBERS or not _NO_NUMBERS.issuperset(map(type, values)):
        return False
    return all(parse_number(text) is None for text in {v for v in values if type(v) is str})


def _read_steps(values: Sequence[Any]) -> "array[int]":
    if set(map(type, values)) != {int} or min(values) < 0 or max(values) > MAX_STEP:
        raise _OddLine
    return array("q", values)


def _read_times(fields: Columns) -> tuple[str, Sequence[datetime]]:
    """Which column tells when the rows were logged, and the times; empty if none does."""
    key = next((key for key in (*TIME_KEYS, LOOSE_TIME_KEY) if key in fields), "")
    times = [parse_time(value) for value in fields.get(key, ())]
    known_times = [at for at in times if at is not None]
    if known_times and len(known_times) < len(times):
        raise _OddLine
    return (key if known_times else ""), known_times
