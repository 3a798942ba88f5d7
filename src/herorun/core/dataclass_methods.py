"""The fields and the methods of a dataclass, each made as the standard library makes it, and by
itself.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, MISSING, Field
from functools import cache
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, ClassVar, get_origin

FIELDS = "__dataclass_fields__"
_DOC = "_"  # for a class without one the standard library writes its signature, by `inspect`
_FACTORY_DEFAULT = type(
    "_Made", (), {"__repr__": lambda _: "<factory>"}
)()  # a default that `__init__` makes


@cache
def params_of(is_frozen: bool, kw_only: bool, slots: bool) -> Any:
    empty = type("_", (), {"__doc__": _DOC})
    sample: Any = dataclasses.dataclass(frozen=is_frozen, kw_only=kw_only, slots=slots)(empty)
    return sample.__dataclass_params__


def fields_of(
    stated_fields: Mapping[str, Any], kw_only: bool, slots: bool, cls: Any
) -> dict[str, Any]:
    """The inherited fields, then its own."""
    fields: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        fields |= getattr(base, FIELDS, {})
    annotations = cls.__annotations__
    bare = {} if slots else {name: getattr(cls, name, MISSING) for name in annotations}
    defaults = {name: stated_fields.get(name, bare.get(name, MISSING)) for name in annotations}
    if all(_is_simple(annotations[name], default) for name, default in defaults.items()):
        for name, default in defaults.items():
            fields[name] = _field(name, annotations[name], default, kw_only)
        return fields
    return fields | _standard_fields(cls, annotations, defaults, kw_only)


def _is_simple(kind: Any, default: Any) -> bool:
    """Whether this is a plain field. Text annotations, `ClassVar` and mutable defaults are left to
    the standard library.
    """
    value = default.default if isinstance(default, Field) else default
    if isinstance(kind, str) or kind is KW_ONLY or ClassVar in (kind, get_origin(kind)):
        return False
    return type(value).__hash__ is not None


def _field(name: str, kind: Any, default: Any, kw_only: bool) -> Any:
    """As the standard library makes it, without the class around it: 0.2 ms each."""
    field: Any = default if isinstance(default, Field) else dataclasses.field(default=default)
    field.name, field.type, field._field_type = name, kind, _field_kind()
    if field.kw_only is MISSING:
        field.kw_only = kw_only
    return field


@cache
def _field_kind() -> Any:
    """What the standard library marks a field with."""
    sample: Any = dataclasses.make_dataclass("_", [("x", int)])
    return dataclasses.fields(sample)[0]._field_type  # type: ignore[attr-defined]  # private


def _standard_fields(
    cls: Any, annotations: Mapping[str, Any], defaults: Mapping[str, Any], kw_only: bool
) -> dict[str, Any]:
    """The standard library reads these from a bare copy."""
    bare = {name: value for name, value in defaults.items() if value is not MISSING}
    bare |= {"__annotations__": annotations, "__module__": cls.__module__, "__doc__": _DOC}
    copy = type(cls.__name__, (), bare)
    standard: Any = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(copy)
    fields: dict[str, Any] = standard.__dataclass_fields__
    return fields


def _match_args(cls: Any) -> tuple[str, ...]:
    return tuple(
        field.name for field in dataclasses.fields(cls) if field.init and not field.kw_only
    )


def _init(cls: Any) -> Callable[..., None]:
    fields = dataclasses.fields(cls)
    world: dict[str, Any] = {"_assign": object.__setattr__, "_made": _FACTORY_DEFAULT}
    for field in fields:
        world[f"_default_{field.name}"] = field.default
        world[f"_factory_{field.name}"] = field.default_factory
    positional = [field for field in fields if field.init and not field.kw_only]
    keyword_only = [field for field in fields if field.init and field.kw_only]
    parameters = [
        "self",
        *map(_parameter, positional),
        *(["*"] if keyword_only else []),
        *map(_parameter, keyword_only),
    ]
    form = "_assign(self, {0!r}, {1})" if cls.__dataclass_params__.frozen else "self.{0} = {1}"
    body = [form.format(field.name, value) for field in fields if (value := _value(field))]
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    exec(f"def __init__({', '.join(parameters)}):\n  " + "\n  ".join(body or ["pass"]), world)
    init: Any = world["__init__"]
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    init.__annotations__ = {field.name: field.type for field in positional + keyword_only} | {
        "return": None
    }
    return init  # type: ignore[no-any-return]  # of `exec`


def _parameter(field: Any) -> str:
    if field.default is not MISSING:
        return f"{field.name}=_default_{field.name}"
    return f"{field.name}=_made" if field.default_factory is not MISSING else field.name


def _value(field: Any) -> str:
    """What `__init__` assigns; nothing where the class has the default of what is not given."""
    factory_call = f"_factory_{field.name}()" if field.default_factory is not MISSING else ""
    if not field.init:
        return factory_call
    return (
        f"{factory_call} if {field.name} is _made else {field.name}" if factory_call else field.name
    )


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) == 1:  # as of a key that each tick looks up a hundred times
        only = attrgetter(names[0])
        return lambda value: (only(value),)
    return attrgetter(*names) if names else lambda value: ()


def _repr(cls: Any) -> Callable[..., Any]:
    names = [field.name for field in dataclasses.fields(cls) if field.repr]

    @recursive_repr()
    def __repr__(self: Any) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({values})"

    return __repr__


def _eq(cls: Any) -> Callable[..., Any]:
    values = _values([field.name for field in dataclasses.fields(cls) if field.compare])

    def __eq__(self: Any, other: Any) -> Any:
        if other.__class__ is self.__class__:
            return values(self) == values(other)
        return NotImplemented

    return __eq__


def _hash(cls: Any) -> Callable[..., Any]:
    hash_names = (
        field.name
        for field in dataclasses.fields(cls)
        if (field.compare if field.hash is None else field.hash)
    )
    values = _values(list(hash_names))

    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __hash__


METHODS: Mapping[str, Callable[[Any], Any]] = {
    "__init__": _init,
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": _hash,
    "__match_args__": _match_args,
}
