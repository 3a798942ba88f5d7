"""`dataclasses.dataclass`, with each method made when it is first called.

The decorator of the standard library compiles six functions for each frozen class: 0.45 ms. A
command imports some 450 of our classes and uses a few dozen, so that made a third of its start.
Here a class costs 10 µs until its first instance. It stays a dataclass in all that a caller sees:
`fields`, `replace`, `asdict`, `is_dataclass`, `match`, and a subclass made by the standard library.

A mistake in the fields (a mutable default, no default after a default) shows at first use, so a
test uses every class. `InitVar` is not supported. Two threads may make the same method at once:
both make the same.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, MISSING, Field, FrozenInstanceError
from functools import cache, partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, ClassVar, get_origin

_FIELDS = "__dataclass_fields__"
FEW = 16  # instances of a class, before its `__init__` is worth compiling
_DOC = "_"  # for a class without one the standard library writes its signature, by `inspect`
_FACTORY_DEFAULT = type(
    "_Made", (), {"__repr__": lambda _: "<factory>"}
)()  # a default that `__init__` makes


def _lazy(
    cls: Any = None,
    /,
    *,
    frozen: bool = False,
    kw_only: bool = False,
    slots: bool = False,
    **others: Any,
) -> Any:
    if cls is None:
        return partial(_lazy, frozen=frozen, kw_only=kw_only, slots=slots, **others)
    if others or (slots and not _is_plain(cls, frozen)):
        return dataclasses.dataclass(cls, frozen=frozen, kw_only=kw_only, slots=slots, **others)
    if slots:
        return _slotted(cls, kw_only)
    own = vars(cls)
    stated_fields = {name: value for name, value in own.items() if isinstance(value, Field)}
    return _with_methods(cls, stated_fields, frozen, kw_only)


def _is_plain(cls: Any, is_frozen: bool) -> bool:
    """Whether every annotation is a slot. A frozen class would also need pickling of its own."""
    return (
        not is_frozen
        and cls.__bases__ == (object,)
        and not any("ClassVar" in str(kind) for kind in cls.__annotations__.values())
    )


def _slotted(cls: Any, kw_only: bool) -> Any:
    """The same class with slots: a class with a slot has no default of that name next to it."""
    names = tuple(cls.__annotations__)
    own = dict(vars(cls))
    stated_fields = {name: own.pop(name) for name in names if name in own}
    for each in ("__dict__", "__weakref__"):
        own.pop(each, None)
    slotted_class = type(cls)(cls.__name__, (), {**own, "__slots__": names})
    slotted_class.__qualname__ = cls.__qualname__
    return _with_methods(slotted_class, stated_fields, False, kw_only, slots=True)


def _with_methods(
    cls: Any, stated_fields: Mapping[str, Any], is_frozen: bool, kw_only: bool, slots: bool = False
) -> Any:
    own = vars(cls)
    for name, value in () if slots else stated_fields.items():
        delattr(cls, name) if value.default is MISSING else setattr(cls, name, value.default)
    makers = {name: make for name, make in _METHODS.items() if own.get(name) is None}
    makers[_FIELDS] = partial(_fields, stated_fields, kw_only, slots)
    for name, make in makers.items():
        first_read = _FirstInstances if name == "__init__" else _FirstRead
        setattr(cls, name, first_read(cls, name, make))
    if not is_frozen and "__hash__" in makers:
        cls.__hash__ = None
    if is_frozen:
        cls.__setattr__, cls.__delattr__ = _refuse_assignment, _refuse_deletion
    cls.__dataclass_params__ = _params(is_frozen, kw_only, slots)
    return cls


if TYPE_CHECKING:  # type checkers know that one
    from dataclasses import dataclass as dataclass
else:
    dataclass = _lazy


class _FirstRead:
    """An attribute of a class, or a method of it, that is made when it is first read."""

    def __init__(self, cls: Any, name: str, make: Callable[[Any], Any]) -> None:
        self._cls, self._name, self._make = cls, name, make

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        value = self._make(self._cls)
        setattr(self._cls, self._name, value)
        return value.__get__(instance, owner) if callable(value) else value


class _FirstInstances(_FirstRead):
    """`__init__`, which is only compiled, in 0.2 ms, for a class with many instances, for wrong
    arguments, whose message it has, or where somebody reads the function itself.
    """

    _instances = 0  # so far
    _own_fields: tuple[Any, ...] | None = None

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None or type(instance) is not self._cls or self._instances >= FEW:
            return super().__get__(instance, owner)
        self._instances += 1
        return partial(self._assign, instance)

    def _assign(self, instance: Any, /, *values: Any, **by_name: Any) -> None:
        arguments = self._arguments(values, by_name)
        if arguments is None:
            super().__get__(instance)(*values, **by_name)
            return
        for name, value in arguments:
            object.__setattr__(instance, name, value)
        if hasattr(instance, "__post_init__"):
            instance.__post_init__()

    def _arguments(
        self, values: tuple[Any, ...], by_name: dict[str, Any]
    ) -> list[tuple[str, Any]] | None:
        """The value of each field; None where only the real `__init__` tells what is wrong."""
        if self._own_fields is None:
            self._own_fields = dataclasses.fields(self._cls)
        positional = [field.name for field in self._own_fields if field.init and not field.kw_only]
        by_field = dict(zip(positional, values, strict=False)) | by_name
        if len(by_field) < len(values) + len(by_name):
            return None
        arguments = []
        for field in self._own_fields:
            if field.init and field.name in by_field:
                arguments.append((field.name, by_field.pop(field.name)))
            elif field.default_factory is not MISSING:
                arguments.append((field.name, field.default_factory()))
            elif field.init and field.default is MISSING:
                return None
            elif field.init:
                arguments.append((field.name, field.default))
        return None if by_field else arguments


@cache
def _params(is_frozen: bool, kw_only: bool, slots: bool) -> Any:
    empty = type("_", (), {"__doc__": _DOC})
    sample: Any = dataclasses.dataclass(frozen=is_frozen, kw_only=kw_only, slots=slots)(empty)
    return sample.__dataclass_params__


def _fields(
    stated_fields: Mapping[str, Any], kw_only: bool, slots: bool, cls: Any
) -> dict[str, Any]:
    """The inherited fields, then its own."""
    fields: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        fields |= getattr(base, _FIELDS, {})
    annotations = cls.__annotations__
    bare = {} if slots else {name: getattr(cls, name, MISSING) for name in annotations}
    defaults = {name: stated_fields.get(name, bare.get(name, MISSING)) for name in annotations}
    if all(_is_simple(annotations[name], default) for name, default in defaults.items()):
        for name, default in defaults.items():
            fields[name] = _field(name, annotations[name], default, kw_only)
        return fields
    return fields | _standard_fields(cls, annotations, defaults, kw_only)


def _is_simple(kind: Any, default: Any) -> bool:
    """Whether this is a field and nothing else, which only the standard library tells of a text, of
    a `ClassVar` and of a default that may be changed.
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
    return dataclasses.fields(sample)[0]._field_type  # type: ignore[attr-defined]


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
    return init  # type: ignore[no-any-return]


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
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


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


def _refuse_assignment(self: Any, name: str, value: Any) -> None:
    _must_be_free(self, name, "assign to")
    object.__setattr__(self, name, value)


def _refuse_deletion(self: Any, name: str) -> None:
    _must_be_free(self, name, "delete")
    object.__delattr__(self, name)


def _must_be_free(value: Any, name: str, act: str) -> None:
    """Only a plain subclass may have attributes of its own besides the fields."""
    if _FIELDS in vars(type(value)) or name in getattr(type(value), _FIELDS):
        raise FrozenInstanceError(f"cannot {act} field {name!r}")


_METHODS: Mapping[str, Callable[[Any], Any]] = {
    "__init__": _init,
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": _hash,
    "__match_args__": _match_args,
}
