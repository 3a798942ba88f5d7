"""From canonical JSON back to our types. Writing is `core.canonical_json`; reading checks every
field.
"""

from typing import Any, TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")


_adapters: dict[Any, TypeAdapter[Any]] = {}  # building one is slow, and there are few kinds


def decode(kind: type[T], value: Any) -> T:
    """Rebuild a value of `kind` from its plain form; a ValueError names the field that does not
    fit.
    """
    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    result: T = _adapters[kind].validate_python(value)
    return result
