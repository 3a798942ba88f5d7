"""Decodes canonical JSON into our types and checks each field. `core.canonical_json` encodes."""

from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import AfterValidator, TypeAdapter

from herorun.core.check_names import current_key, current_name

T = TypeVar("T")
# Fields of journals that earlier versions wrote: decoded by the checks' present names.
CheckName: TypeAlias = Annotated[str, AfterValidator(current_name)]
DecodedKey: TypeAlias = Annotated[str, AfterValidator(current_key)]

_adapters: dict[Any, TypeAdapter[Any]] = {}  # building one is slow, and there are few kinds


def decode(kind: type[T], value: Any) -> T:
    """Rebuild a value of `kind` from its plain form; a ValueError names the field that does not
    fit.
    """
    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    result: T = _adapters[kind].validate_python(value)
    return result
