"""A model as plain values, where it is sure that pydantic would dump the same."""

from collections.abc import Callable, Set
from datetime import datetime, timedelta
from enum import Enum
from functools import cache
from math import isfinite
from typing import Any, get_args, get_origin

from herorun.core.lazy_pydantic.markers import Marker
from herorun.core.lazy_pydantic.model import BaseModel
from herorun.core.lazy_pydantic.scalars import Unsure

_PLAIN = frozenset({str, int, bool, type(None)})
_UNCHANGED_TYPES = frozenset({datetime, timedelta})


def dump(
    model: BaseModel,
    *,
    mode: str = "python",
    by_alias: bool = False,
    include: Set[str] | None = None,
    exclude: Set[str] | None = None,
    exclude_none: bool = False,
    exclude_unset: bool = False,
    **others: Any,
) -> dict[str, Any]:
    """As pydantic's `model_dump` with these options."""
    if others or not isinstance(include or set(), Set) or not isinstance(exclude or set(), Set):
        raise Unsure
    own = _Dump(mode == "json", by_alias, exclude_none, exclude_unset)
    include_option = {} if include is None else {"include": include}
    return own.of_model(model, **include_option, exclude=exclude or frozenset())


class _Dump:
    def __init__(self, json: bool, by_alias: bool, exclude_none: bool, exclude_unset: bool) -> None:
        self._json, self._by_alias = json, by_alias
        self._exclude_none, self._exclude_unset = exclude_none, exclude_unset

    def of_model(
        self, model: Any, include: Set[str] | None = None, exclude: Set[str] = frozenset()
    ) -> dict[str, Any]:
        kind, document = type(model), {}
        for name, field in kind.model_fields.items():
            if name not in vars(model):
                raise Unsure
            value = vars(model)[name]
            if self._is_left_out(model, name, value) or field.exclude or name in exclude:
                continue
            if include is not None and name not in include:
                continue
            key = (self._by_alias and field.alias) or name
            document[key] = self._of_field(kind, name, value)
        for name, value in (model.__pydantic_extra__ or {}).items():
            is_asked = name not in exclude and (include is None or name in include)
            if is_asked and not (self._exclude_none and value is None):
                document[name] = self._of(value, frozenset({Any}))
        return document

    def _is_left_out(self, model: Any, name: str, value: Any) -> bool:
        is_unset = self._exclude_unset and name not in model.__pydantic_fields_set__
        return is_unset or (self._exclude_none and value is None)

    def _of_field(self, kind: Any, name: str, value: Any) -> Any:
        models, serialize = _facts_of(kind, name)
        if serialize is not None and value is not None:
            return serialize(value)
        return self._of(value, models)

    def _of(self, value: Any, models: frozenset[Any]) -> Any:
        kind: Any = type(value)
        if kind in _PLAIN or (kind is float and (isfinite(value) or not self._json)):
            return value
        if isinstance(value, BaseModel) and models & {kind, Any}:
            return self.of_model(value)
        if kind is dict and all(map(self._stays, value)):
            return {key: self._of(each, models) for key, each in value.items()}
        if kind is list or (kind is tuple and self._json):
            return [self._of(each, models) for each in value]
        if kind is tuple:
            return tuple([self._of(each, models) for each in value])
        if isinstance(value, Enum) and type(value.value) in _PLAIN:
            return value.value if self._json else value
        if kind in _UNCHANGED_TYPES and not self._json:
            return value
        if "__dataclass_fields__" in vars(kind) and not (self._json or self._exclude_none):
            return {name: self._of(getattr(value, name), models) for name in _names_of(kind)}
        raise Unsure

    def _stays(self, key: Any) -> bool:
        """Whether a key of a table is written as it is."""
        return type(key) is str or (isinstance(key, Enum) and not self._json)


@cache
def _facts_of(kind: Any, name: str) -> tuple[frozenset[Any], Callable[[Any], Any] | None]:
    """The models that a field may hold, and what writes its value in another form."""
    parts = list(_parts(kind.model_fields[name].whole_annotation))
    serializers = [
        part.values[0]
        for part in parts
        if isinstance(part, Marker) and part.name == "PlainSerializer"
    ]
    models = frozenset(part for part in parts if isinstance(part, type) or part is Any)
    if serializers and {get_origin(part) for part in parts} & {tuple, list, dict}:
        return models, _refuse
    return models, serializers[0] if serializers else None


@cache
def _names_of(kind: Any) -> tuple[str, ...]:
    """The fields of a dataclass."""
    from dataclasses import fields

    return tuple(field.name for field in fields(kind))


def _refuse(value: Any) -> Any:
    raise Unsure


def _parts(kind: Any) -> Any:
    yield kind
    for each in get_args(kind):
        yield from _parts(each)
