"""Compares the resolved config of a job with the admitted one, key by key, for any type of config
object.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .items import DIGEST_PREFIX, FAIL, PASS, UNKNOWN, Item, digest_secret, shorten_value

_NOTHING = object()  # the script's config lacks it


class _OpaqueValue(Exception):
    """A value that is neither plain nor a table, such as a function: it cannot be compared."""


def compare_config(admitted_config: Mapping[str, Any], script_config: Any) -> Item:
    """Compare the keys of the admitted config that the script's own config has."""
    try:
        outcomes = [
            (key, *_outcome(*pair))
            for key, *pair in _compare_leaves(admitted_config, script_config)
        ]
    except Exception as error:  # the script's objects may raise anything; that is no difference
        return Item(
            "resolved-config", UNKNOWN, f"{_kind(script_config)} could not be read: {error!r}"
        )
    by = {
        word: [(key, message) for key, outcome, message in outcomes if outcome == word]
        for word in (PASS, FAIL, UNKNOWN)
    }
    opaque = "".join(
        f"; {key} is {message}, which cannot be compared" for key, message in by[UNKNOWN][:5]
    )
    if by[FAIL]:
        return Item(
            "resolved-config", FAIL, "; ".join(f"{key} {message}" for key, message in by[FAIL][:5])
        )
    if not by[PASS]:
        return Item("resolved-config", UNKNOWN, f"no key in common with what was admitted{opaque}")
    unshown = len(outcomes) - len(by[PASS]) - len(by[UNKNOWN])
    return Item(
        "resolved-config", PASS, f"{len(by[PASS])} keys as admitted, {unshown} not shown{opaque}"
    )


def _compare_leaves(
    admitted_value: Mapping[str, Any], script_value: Any, at: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    """For each admitted leaf: its dotted key, its value, and the script's value. Only admitted keys
    are read.
    """
    table = _as_table(script_value)
    if table is None and at:
        yield at.rstrip("."), admitted_value, script_value
    if table is None:
        return
    for key, value in admitted_value.items():
        item = table.get(key, _NOTHING)
        if isinstance(value, Mapping) and value:
            below = {
                name[len(key) + 1 :]: v for name, v in table.items() if name.startswith(f"{key}.")
            }
            yield from _compare_leaves(value, below if item is _NOTHING else item, f"{at}{key}.")
        else:
            yield f"{at}{key}", value, item


def _as_table(value: Any) -> dict[str, Any] | None:
    """A mapping, a dataclass, a namespace or a model as a table. None: it is a value."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return dict(value._asdict())
    if _is_value(value):
        return None
    if isinstance(value, Mapping) or callable(getattr(type(value), "items", None)):
        return {str(key): item for key, item in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        return {
            name: getattr(value, name)
            for name in value.__dataclass_fields__
            if hasattr(value, name)
        }
    attributes = getattr(value, "__dict__", None)
    return (
        {key: item for key, item in attributes.items() if not key.startswith("_")}
        if attributes is not None
        else None
    )


def _is_value(value: Any) -> bool:
    plain = value is None or isinstance(
        value, (bool, int, float, str, bytes, list, tuple, set, type)
    )
    return plain or _is_enum(value) or any(hasattr(value, name) for name in _OF_VALUES)


# of paths, times, arrays and functions
_OF_VALUES = ("__fspath__", "isoformat", "tolist", "__code__")


def _is_enum(value: Any) -> bool:
    return hasattr(type(value), "__members__")


def _outcome(admitted_value: Any, script_value: Any) -> tuple[str, str]:
    if script_value is _NOTHING:
        return "", ""
    try:
        plain = _plain_value(script_value, admitted_value)
    except Exception:  # the script's own objects may raise anything
        return UNKNOWN, f"a {_kind(script_value)}"
    if admitted_value == {} and isinstance(plain, Mapping):
        return "", ""
    if isinstance(admitted_value, str) and admitted_value.startswith(DIGEST_PREFIX):
        return (
            (PASS, "")
            if digest_secret(plain) == admitted_value
            else (FAIL, "is not the secret that was admitted")
        )
    return (
        (PASS, "")
        if _equal(admitted_value, plain)
        else (
            FAIL,
            f"is {shorten_value(plain)}, but {shorten_value(admitted_value)} was admitted",
        )
    )


def _kind(value: Any) -> str:
    return type(value).__name__


def _plain_value(value: Any, like: Any = None) -> Any:
    """The value in the form of the admission's JSON: non-finite numbers, times and paths as text,
    tuples as lists.

    If `like` is a table, an object is read as a table too, with the admitted keys only.
    """
    if isinstance(like, Mapping) and (table := _as_table(value)) is not None:
        return {
            key: _plain_value(table[key], item) if key in table else item
            for key, item in like.items()
        }
    if _is_enum(value):
        return like if str(like).lower() == value.name.lower() else _plain_value(value.value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain_value(item) for key, item in value.items()}
    if hasattr(value, "__fspath__"):
        alike = isinstance(like, str) and type(value)(like) == value  # a Path drops a last slash
        return like if alike else value.__fspath__()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "tolist"):
        return _plain_value(_from_array(value))
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        alike = like if isinstance(like, list) and len(like) == len(value) else [None] * len(value)
        return [_plain_value(item, other) for item, other in zip(value, alike, strict=True)]
    raise _OpaqueValue


def _from_array(value: Any) -> Any:
    """An array as lists; a single number by its shortest text, because float32's 0.1 is not
    Python's.
    """
    items = value.tolist()
    try:
        return float(str(value)) if isinstance(items, float) else items
    except ValueError:
        return items


def _equal(admitted_value: Any, script_value: Any) -> bool:
    """Whether the values are equal: 1 is 1.0, the text `1e-3` (which YAML does not read as a
    number) is 0.001, and true is not 1.
    """
    if isinstance(admitted_value, Mapping) and isinstance(script_value, Mapping):
        return admitted_value.keys() == script_value.keys() and all(
            _equal(admitted_value[key], script_value[key]) for key in admitted_value
        )
    if isinstance(admitted_value, (list, tuple)) and isinstance(script_value, (list, tuple)):
        return len(admitted_value) == len(script_value) and all(
            map(_equal, admitted_value, script_value)
        )
    if isinstance(admitted_value, bool) or isinstance(script_value, bool):
        return admitted_value is script_value
    if isinstance(admitted_value, str) and isinstance(script_value, (int, float)):
        return _parse_float(admitted_value) == script_value
    return bool(_plain_value(admitted_value) == script_value)


def _parse_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
