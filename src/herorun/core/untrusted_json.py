"""Parses JSON from others: a value, or one kind of error, even for input that is made to crash a
parser.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NoReturn

MAX_DEPTH = 100  # levels of what is to be written again: Python's own writers go by recursion


def read_json(data: str | bytes) -> Any:
    """The value; a ValueError for what is none, is nested too deeply, or holds a number of
    thousands of digits.
    """
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_strict_json(data: str | bytes) -> Any:
    """As `read_json`, of what must have one reading: a ValueError too for a key that stands there
    twice, for a number that is none or infinite, and for more than `MAX_DEPTH` levels.

    >>> read_strict_json('{"run": "a", "run": "b"}')
    Traceback (most recent call last):
    ValueError: the key 'run' appears twice
    """
    try:
        document = json.loads(
            data, object_pairs_hook=_each_once, parse_constant=_no_number, parse_float=_finite
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    level = [document]
    for _ in range(MAX_DEPTH):
        level = [inside for each in level for inside in _children_of(each)]
        if not level:
            return document
    raise ValueError("it is nested too deeply")


def _children_of(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _each_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:40]!r} appears twice")
    return table


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")


def _finite(word: str) -> float:
    if not math.isfinite(value := float(word)):
        raise ValueError(f"{word[:40]} is not a finite number")
    return value


def whole_number(value: Any) -> int:
    """An integer as it stands there; a ValueError for a fraction, `Infinity`, NaN, a truth value or
    a text.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{str(value)[:40]!r} is not a whole number")
    return value


def parse_utc(text: str) -> datetime | None:
    """A moment in UTC, which is meant if no zone is stated, as in W&B's answers; None for what is
    no time.
    """
    try:
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def parse_time(value: Any) -> datetime:
    """A moment with its zone; a ValueError for a time that could be any of 24."""
    if not isinstance(value, str) or (moment := datetime.fromisoformat(value)).tzinfo is None:
        raise ValueError(f"{str(value)[:40]!r} is no time with a zone")
    return moment
