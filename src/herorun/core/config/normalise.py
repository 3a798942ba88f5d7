"""Values of a resolved config, compared by what they mean."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from herorun.core.lazy_regex import lazy_regex

MAX_VALUE_LENGTH = 80  # characters of a value in a message
_EXPONENT = lazy_regex(r"[+-]?(\d+\.?\d*|\.\d+)[eE][+-]?\d+")


def flatten(config: Mapping[str, Any]) -> dict[str, Any]:
    """Nested tables as dotted keys. A list that holds tables is numbered; any other value is a
    leaf.

    >>> flatten({"trainer": {"seed": 7}, "mix": [{"name": "web"}]})
    {'trainer.seed': 7, 'mix.0.name': 'web'}
    """
    flat: dict[str, Any] = {}
    for key, value in _leaves(config, ""):
        flat[key if key not in flat else f'"{key}"'] = value  # `a.b` may be there flat and nested
    return flat


def _leaves(value: Any, at: str) -> Iterator[tuple[str, Any]]:
    below = _child_values(value)
    if not below:
        if at or not isinstance(value, Mapping):
            yield at, value
        return
    for key, item in below.items():
        yield from _leaves(item, f"{at}.{key}" if at else str(key))


def _child_values(value: Any) -> Mapping[Any, Any]:
    if isinstance(value, Mapping):
        return value
    if isinstance(value, (list, tuple)) and any(isinstance(item, Mapping) for item in value):
        return dict(enumerate(value))
    return {}


def same(one: Any, other: Any) -> bool:
    """1 is 1.0, `1e-3` is 0.001, a tuple is a list, NaN is its text; true is not 1, and "1.10" is
    not "1.1".
    """
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, str) and isinstance(other, str):
        return one == other or _same_texts(one, other)
    numbers = number(one), number(other)
    if None not in numbers:
        return numbers[0] == numbers[1] or str(numbers[0]) == str(numbers[1])
    return bool(one == other)


def _same_texts(one: str, other: str) -> bool:
    """Two texts are one number only where one of them has an exponent: other digits may be a
    version.
    """
    if not (_EXPONENT.fullmatch(one) or _EXPONENT.fullmatch(other)):
        return False
    return number(one) is not None and number(one) == number(other)


def number(value: Any) -> int | float | None:
    """The number that a value is or spells; None for anything else, and for true and false."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if not isinstance(value, str):
        return value
    try:
        return int(value)
    except ValueError:
        pass
    try:
        return float(value)
    except ValueError:
        return None


def whole_number(value: Any) -> int | None:
    """A count: 200, 2e5 or "2e5"; None for anything else."""
    amount = number(value)
    if isinstance(amount, float):
        return int(amount) if math.isfinite(amount) and amount.is_integer() else None
    return amount


def show_short(value: Any) -> str:
    """A value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[: MAX_VALUE_LENGTH - 3]}..."
