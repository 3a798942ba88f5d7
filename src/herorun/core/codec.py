"""From canonical JSON back to our types. Writing is `core.canonical`; reading checks every field."""

from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def read(kind: type[T], value: Any) -> T:
    """Rebuild a value of `kind` from its plain form; a ValueError names the field that does not fit."""
    result: T = _adapter(kind).validate_python(value)
    return result
