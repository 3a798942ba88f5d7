"""Decodes canonical JSON into our types and checks each field. `core.canonical_json` encodes."""

from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import count
from typing import Annotated, Any, TypeAlias, TypeVar

from herorun.core.check_names import current_key, current_name
from herorun.core.lazy_pydantic import AfterValidator
from herorun.core.lazy_pydantic.readers import reader_of
from herorun.core.lazy_pydantic.scalars import MAX_DURATION, MAX_TIME, MIN_TIME, Unsure

T = TypeVar("T")
# Fields of journals that earlier versions wrote: decoded by the checks' present names.
CheckName: TypeAlias = Annotated[str, AfterValidator(current_name)]
DecodedKey: TypeAlias = Annotated[str, AfterValidator(current_key)]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Beyond these, and without a zone, sums and comparisons of times raise.
TIMES: Mapping[str, Mapping[str, Any]] = {
    "datetime": {
        "tz_constraint": "aware",
        "ge": MIN_TIME,
        "le": MAX_TIME,
    },
    "timedelta": {"ge": -MAX_DURATION, "le": MAX_DURATION},
}
# Values that Python decodes before pydantic, which is some ten times as fast, has paid for its
# import and the building of its validators.
FEW = 2000
_validators: dict[Any, Any] = {}  # building one is slow, and there are few kinds
_calls = count()


def decode(kind: type[T], value: Any) -> T:
    """Rebuild a value of `kind` from its plain form; a ValueError names the field that does not
    fit.
    """
    if next(_calls) < FEW:
        try:
            own: T = reader_of(kind, True)(value)
        except Unsure:  # wrong, or from another version: pydantic tells
            pass
        else:
            return own
    result: T = _validator(kind).validate_python(value)
    return result


def _validator(kind: Any) -> Any:
    if kind not in _validators:
        from pydantic import TypeAdapter
        from pydantic_core import SchemaValidator

        _validators[kind] = SchemaValidator(_with_bounded_times(TypeAdapter(kind).core_schema))
    return _validators[kind]


def _with_bounded_times(schema: Any) -> Any:
    """The schema of a type, with the limits of all its times: a type names none of them."""
    if isinstance(schema, list | tuple):
        return type(schema)(_with_bounded_times(each) for each in schema)
    if not isinstance(schema, dict):
        return schema
    bounded_schema = {name: _with_bounded_times(each) for name, each in schema.items()}
    kind = schema.get("type")
    return {**bounded_schema, **TIMES.get(kind, {})} if isinstance(kind, str) else bounded_schema
