"""The numbers in what was logged, under dotted names, NaN and infinity kept."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def numbers(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """The leaves that are numbers; other leaves are not metrics."""
    for name, value in table.items():
        if type(value) is float:  # nearly every one
            yield f"{prefix}{name}", value
        elif isinstance(value, dict):
            yield from numbers(value, f"{prefix}{name}.")
        elif (number := as_number(value)) is not None:
            yield f"{prefix}{name}", number


def as_number(value: Any) -> float | None:
    """The number, also from a text such as "NaN"; None for other values."""
    if isinstance(value, str):
        return NON_FINITE.get(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def numbers_in(name: str, raw: bytes) -> Iterator[tuple[str, float]]:
    """The same for a named value in JSON; ValueError for invalid JSON."""
    try:
        yield from numbers({name: json.loads(raw)})
    except RecursionError:
        raise ValueError("nested too deeply") from None
