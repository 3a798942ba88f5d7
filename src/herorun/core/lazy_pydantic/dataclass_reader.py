"""Reads a stored object into a dataclass."""

from dataclasses import MISSING
from typing import Any, get_type_hints

from herorun.core.lazy_pydantic.readers import reader_of
from herorun.core.lazy_pydantic.scalars import Reader, Unsure, call_validator


class DataclassReader:
    """As pydantic reads it: unknown keys are left out, and what is missing has its default."""

    def __init__(self, kind: Any, is_stored: bool) -> None:
        self._kind, self._is_stored = kind, is_stored
        self._readers: list[tuple[str, Reader, bool]] | None = None  # and whether it has a default

    def __call__(self, value: Any) -> Any:
        if type(value) is self._kind:
            return value
        if type(value) is not dict:
            raise Unsure
        if self._readers is None:
            self._readers = self._field_readers()
        values = {}
        for name, reader, has_default in self._readers:
            if name in value:
                values[name] = reader(value[name])
            elif not has_default:
                raise Unsure
        return call_validator(self._kind, **values)

    def _field_readers(self) -> list[tuple[str, Reader, bool]]:
        fields = self._kind.__dataclass_fields__.values()
        types = {field.name: field.type for field in fields}
        if any(isinstance(each, str) for each in types.values()):
            types = get_type_hints(self._kind, include_extras=True)
        if not all(field.init for field in fields):
            raise Unsure
        return [
            (
                field.name,
                reader_of(types[field.name], self._is_stored),
                field.default is not MISSING or field.default_factory is not MISSING,
            )
            for field in fields
        ]
