"""JSON that somebody else wrote: a value, or one kind of error, whatever was put there to bring the reader down."""

import json
from datetime import datetime
from typing import Any


def read_json(data: str | bytes) -> Any:
    """The value; a ValueError for what is none, is nested too deeply, or holds a number of thousands of digits."""
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def whole_number(value: Any) -> int:
    """An integer as it stands there; a ValueError for a fraction, `Infinity`, NaN, a truth value or a text."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{str(value)[:40]!r} is no whole number")
    return value


def parse_time(value: Any) -> datetime:
    """A moment with its zone; a ValueError for a time that could be any of 24."""
    if not isinstance(value, str) or (found := datetime.fromisoformat(value)).tzinfo is None:
        raise ValueError(f"{str(value)[:40]!r} is no time with a zone")
    return found
