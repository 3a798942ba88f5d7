"""Decodes canonical JSON into our types and checks each field. `core.canonical_json` encodes."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import AfterValidator, TypeAdapter
from pydantic_core import SchemaValidator

from herorun.core.check_names import current_key, current_name

T = TypeVar("T")
# Fields of journals that earlier versions wrote: decoded by the checks' present names.
CheckName: TypeAlias = Annotated[str, AfterValidator(current_name)]
DecodedKey: TypeAlias = Annotated[str, AfterValidator(current_key)]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Beyond these, and without a zone, sums and comparisons of times raise.
TIMES: Mapping[str, Mapping[str, Any]] = {
    "datetime": {
        "tz_constraint": "aware",
        "ge": datetime(1000, 1, 1, tzinfo=UTC),
        "le": datetime(9000, 1, 1, tzinfo=UTC),
    },
    "timedelta": {"ge": timedelta(days=-36_500), "le": timedelta(days=36_500)},
}
_validators: dict[Any, SchemaValidator] = {}  # building one is slow, and there are few kinds


def decode(kind: type[T], value: Any) -> T:
    """Rebuild a value of `kind` from its plain form; a ValueError names the field that does not
    fit.
    """
    if kind not in _validators:
        _validators[kind] = SchemaValidator(_with_bounded_times(TypeAdapter(kind).core_schema))
    result: T = _validators[kind].validate_python(value)
    return result


def _with_bounded_times(schema: Any) -> Any:
    """The schema of a type, with the limits of all its times: a type names none of them."""
    if isinstance(schema, list | tuple):
        return type(schema)(_with_bounded_times(each) for each in schema)
    if not isinstance(schema, dict):
        return schema
    bounded = {name: _with_bounded_times(each) for name, each in schema.items()}
    kind = schema.get("type")
    return {**bounded, **TIMES.get(kind, {})} if isinstance(kind, str) else bounded
