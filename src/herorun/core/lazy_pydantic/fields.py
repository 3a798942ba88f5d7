"""The fields of a model, as its class states them."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, get_args, get_origin, get_type_hints

from herorun.core.lazy_pydantic.markers import MISSING, Marker, ValidatorMarker
from herorun.core.lazy_pydantic.readers import KNOWN_OPTIONS, apply_constraints, reader_of, refuse
from herorun.core.lazy_pydantic.scalars import Reader, call_validator


class FieldInfo:
    """One field: what pydantic's has of the same name."""

    def __init__(self, owner: Any, name: str, stated_value: Any, default: Any) -> None:
        self.owner, self.name, self._stated_value = owner, name, stated_value
        self.mark = default if isinstance(default, Marker) else None
        options = self.mark.options if self.mark else {}
        values = self.mark.values if self.mark else (default,)
        self.default = values[0] if values else options.get("default", MISSING)
        self.alias: str | None = options.get("alias")
        self.exclude: bool = options.get("exclude", False)
        names = (self.alias,) if self.alias else ()
        self.is_plain = options.keys() <= KNOWN_OPTIONS
        self.keys: tuple[str, ...] = tuple(dict.fromkeys((*names, name)))

    @property
    def annotation(self) -> Any:
        """Without the other arguments of `Annotated`."""
        kind = self.whole_annotation
        return get_args(kind)[0] if get_origin(kind) is Annotated else kind

    @property
    def whole_annotation(self) -> Any:
        if isinstance(self._stated_value, str):
            self._stated_value = get_type_hints(self.owner, include_extras=True)[self.name]
        return self._stated_value

    @property
    def metadata(self) -> tuple[Any, ...]:
        kind = self.whole_annotation
        return get_args(kind)[1:] if get_origin(kind) is Annotated else ()

    def is_required(self) -> bool:
        return self.default is MISSING

    def get_default(self, *, call_default_factory: bool = False) -> Any:
        """A new one of what can be changed."""
        if isinstance(self.default, dict | list):
            from copy import deepcopy

            return deepcopy(self.default)
        return self.default

    def reader(self, validators: Mapping[str, list[tuple[str, Callable[..., Any]]]]) -> Reader:
        """With the class's own validators of this field."""
        kind = self.whole_annotation
        reader = reader_of(kind, False) if self.is_plain else refuse
        if self.mark:
            reader = apply_constraints(reader, self.annotation, (self.mark,))
        for mode, function in (*validators.get(self.name, ()), *validators.get("*", ())):
            reader = _wrap_reader(reader, mode, function)
        return reader


def _wrap_reader(reader: Reader, mode: str, function: Callable[..., Any]) -> Reader:
    if mode == "before":
        return lambda value: reader(call_validator(function, value))
    return lambda value: call_validator(function, reader(value))


def own_fields(cls: Any) -> dict[str, FieldInfo]:
    """Those that the class states itself; takes their defaults away from it."""
    own = vars(cls)
    annotations = own.get("__annotations__") or (
        cls.__annotations__ if "__annotate__" in own or "__annotate_func__" in own else {}
    )
    stated_fields = {
        name: FieldInfo(cls, name, kind, own.get(name, MISSING))
        for name, kind in annotations.items()
        if ClassVar not in (kind, get_origin(kind)) and not name.startswith("_")
    }
    for name in stated_fields.keys() & own.keys():
        delattr(cls, name)
    return stated_fields


def own_validators(body: Mapping[str, Any]) -> dict[str, ValidatorMarker]:
    return {name: each for name, each in body.items() if isinstance(each, ValidatorMarker)}
