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
from dataclasses import MISSING, Field, FrozenInstanceError
from functools import partial
from typing import TYPE_CHECKING, Any

from herorun.core.dataclass_methods import FIELDS, METHODS, fields_of, params_of

FEW = 16  # instances of a class, before its `__init__` is worth compiling


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
        return _add_slots(cls, kw_only)
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


def _add_slots(cls: Any, kw_only: bool) -> Any:
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
    makers = {name: make for name, make in METHODS.items() if own.get(name) is None}
    makers[FIELDS] = partial(fields_of, stated_fields, kw_only, slots)
    makers["__dataclass_params__"] = lambda _: params_of(is_frozen, kw_only, slots)
    for name, make in makers.items():
        first_read = _FirstInstances if name == "__init__" else _FirstRead
        setattr(cls, name, first_read(cls, name, make))
    if not is_frozen and "__hash__" in makers:
        cls.__hash__ = None
    if is_frozen:
        cls.__setattr__, cls.__delattr__ = _refuse_assignment, _refuse_deletion
    return cls


if TYPE_CHECKING:  # type checkers know that one
    from dataclasses import dataclass as dataclass
else:
    dataclass = _lazy


class _FirstRead:
    """A class attribute or method that is made when it is first read."""

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


def _refuse_assignment(self: Any, name: str, value: Any) -> None:
    _must_be_free(self, name, "assign to")
    object.__setattr__(self, name, value)


def _refuse_deletion(self: Any, name: str) -> None:
    _must_be_free(self, name, "delete")
    object.__delattr__(self, name)


def _must_be_free(value: Any, name: str, act: str) -> None:
    """Only a plain subclass may have attributes of its own besides the fields."""
    if FIELDS in vars(type(value)) or name in getattr(type(value), FIELDS):
        raise FrozenInstanceError(f"cannot {act} field {name!r}")
