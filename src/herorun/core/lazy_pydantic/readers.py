"""Reads plain values into types, where it is sure that pydantic would do the same.

A reader is a function of a value. It raises `Unsure` for what it is not certain of: a wrong value,
or one that pydantic would convert, such as the text "3" for a number.
"""

import re
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import EnumType
from functools import cache, partial
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from herorun.core.lazy_pydantic.markers import Marker
from herorun.core.lazy_pydantic.scalars import (
    OF_SCALAR,
    SCALARS,
    Reader,
    Unsure,
    call_validator,
    read_exact,
    read_float,
    read_member,
    read_stored_bytes,
    read_stored_duration,
    read_time,
)

_CONSTRAINTS = frozenset({"gt", "ge", "lt", "le", "min_length", "pattern", "strict"})
# The options of a field that are read without pydantic.
KNOWN_OPTIONS = _CONSTRAINTS | {"description", "alias", "default", "exclude"}


def refuse(value: Any) -> Any:
    raise Unsure


def reader_of(kind: Any, is_stored: bool) -> Reader:
    """The reader of a type or annotation. With `is_stored`, values are canonical JSON: their times
    are texts, within the limits of `core.decode`.
    """
    try:
        return _reader_of(kind, is_stored)
    except TypeError:  # its annotation has no hash, as with an object of pydantic's own
        return refuse


@cache
def _reader_of(kind: Any, is_stored: bool) -> Reader:
    if kind is Any:
        return lambda value: value
    if kind is float:
        return partial(read_float, is_stored=is_stored)
    if kind in OF_SCALAR:
        return OF_SCALAR[kind]
    if kind is datetime:
        return partial(read_time, is_stored=is_stored)
    if kind is bytes:
        return read_stored_bytes if is_stored else partial(read_exact, bytes)
    if kind is timedelta:
        return read_stored_duration if is_stored else partial(read_exact, timedelta)
    if isinstance(kind, EnumType):
        return partial(read_member, kind)
    if isinstance(kind, type) and not get_args(kind):
        return _reader_of_class(kind, is_stored)
    return _reader_of_form(kind, is_stored)


def _reader_of_class(kind: Any, is_stored: bool) -> Reader:
    if hasattr(kind, "__read__"):  # a model of ours
        reader: Reader = kind.__read__
        return reader
    if "__dataclass_fields__" in vars(kind):
        from herorun.core.lazy_pydantic.dataclass_reader import DataclassReader

        return DataclassReader(kind, is_stored)
    return refuse


def _reader_of_form(kind: Any, is_stored: bool) -> Reader:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return apply_constraints(reader_of(arguments[0], is_stored), arguments[0], arguments[1:])
    if origin in (Union, types.UnionType):
        return _union(arguments, is_stored)
    if origin is Literal:
        return partial(_literal, {(type(each), each): each for each in arguments})
    items = [reader_of(each, is_stored) for each in arguments if each is not ...]
    if origin is tuple:
        return partial(_tuple, items[0]) if ... in arguments else partial(_fixed_tuple, items)
    if origin in (list, Sequence):
        return partial(_list, items[0], arguments[0], keeps_tuples=origin is Sequence)
    if origin in (set, frozenset):
        return partial(_set_of, origin, items[0])
    if origin in (dict, Mapping):
        key = _key_number if is_stored and arguments[0] is int else items[0]
        return partial(_mapping, key, items[1], arguments[1])
    return refuse


def _are_all(kind: Any, values: Iterable[Any]) -> bool:
    """Whether all of them are numbers of that type, which their reader leaves as they are: a state
    has hundreds.
    """
    return kind in (int, float) and {*map(type, values)} == {kind}


def _literal(allowed_values: Mapping[tuple[type, Any], Any], value: Any) -> Any:
    if type(value) not in SCALARS or (type(value), value) not in allowed_values:
        raise Unsure
    return value


def _tuple(item: Reader, value: Any) -> Any:
    if type(value) not in (list, tuple):
        raise Unsure
    return tuple([item(each) for each in value])


def _fixed_tuple(items: Sequence[Reader], value: Any) -> Any:
    if type(value) not in (list, tuple) or len(value) != len(items):
        raise Unsure
    return tuple([item(each) for item, each in zip(items, value, strict=True)])


def _list(item: Reader, kind: Any, value: Any, keeps_tuples: bool) -> Any:
    if type(value) is tuple and keeps_tuples:
        return tuple([item(each) for each in value])
    if type(value) is not list:
        raise Unsure
    return value.copy() if _are_all(kind, value) else [item(each) for each in value]


def _set_of(kind: Callable[[Any], Any], item: Reader, value: Any) -> Any:
    if type(value) not in (list, kind):
        raise Unsure
    return kind([item(each) for each in value])


def _mapping(key: Reader, item: Reader, kind: Any, value: Any) -> Any:
    if type(value) is not dict:
        raise Unsure
    if _are_all(kind, value.values()):
        return {key(name): each for name, each in value.items()}
    return {key(name): item(each) for name, each in value.items()}


def _key_number(value: Any) -> Any:
    """JSON has texts alone as keys."""
    if type(value) is not str or not (value.isascii() and value.isdecimal()):
        raise Unsure
    if len(value) > 15 or (value[0] == "0" and value != "0"):
        raise Unsure
    return int(value)


def _union(members: Sequence[Any], is_stored: bool) -> Reader:
    """The member whose very type it has, as pydantic does; otherwise the only one that could take
    it.
    """
    by_type: dict[type, Reader] = {}
    others = []
    for member in members:
        scalars = _scalars_of(member)
        if any(each in by_type for each in scalars):
            return refuse
        by_type |= dict.fromkeys(scalars, reader_of(member, is_stored))
        others += [] if scalars else [member]
    classes = [each for each in others if isinstance(each, type) and not get_args(each)]
    if len(others) > 1:
        return partial(_of_its_type, by_type, frozenset(classes), refuse)
    rest = reader_of(others[0], is_stored) if others else by_type.get(float, refuse)
    return partial(_of_its_type, by_type, frozenset(), rest)


def _scalars_of(member: Any) -> set[type]:
    if get_origin(member) is Annotated:
        return _scalars_of(get_args(member)[0])
    if get_origin(member) is Literal:
        return {type(each) for each in get_args(member)}
    return {type(None)} if member is None else {member} & {*SCALARS, type(None)}


def _of_its_type(
    by_type: Mapping[type, Reader], classes: frozenset[type], rest: Reader, value: Any
) -> Any:
    kind = type(value)
    if kind in classes:
        return value
    return by_type[kind](value) if kind in by_type else rest(value)


def apply_constraints(inner: Reader, kind: Any, metadata: Sequence[Any]) -> Reader:
    """With the other arguments of `Annotated`, from the inside out."""
    for mark in metadata:
        if not isinstance(mark, Marker):
            if hasattr(mark, "__get_pydantic_core_schema__") or not _is_marked_by_us(mark):
                return refuse
            continue
        inner = _with_mark(inner, kind, mark)
    return inner


def _is_marked_by_us(mark: Any) -> bool:
    return type(mark).__module__.partition(".")[0] == "herorun"


def _with_mark(inner: Reader, kind: Any, mark: Marker) -> Reader:
    match mark.name:
        case "AfterValidator":
            return lambda value: call_validator(mark.values[0], inner(value))
        case "BeforeValidator":
            return lambda value: inner(call_validator(mark.values[0], value))
        case "PlainSerializer" | "WithJsonSchema":
            return inner
        case "Field" | "StringConstraints" if mark.options.keys() <= KNOWN_OPTIONS:
            limits = {n: v for n, v in mark.options.items() if n in _CONSTRAINTS - {"strict"}}
            return _apply_limits(inner, kind, limits) if limits else inner
    return refuse


def _apply_limits(inner: Reader, kind: Any, limits: Mapping[str, Any]) -> Reader:
    if get_origin(kind) in (Union, types.UnionType):
        members = [each for each in get_args(kind) if each is not type(None)]
        if len(members) > 1:
            return refuse
    if "pattern" in limits and not isinstance(limits["pattern"], str):
        return refuse

    def read(value: Any) -> Any:
        value = inner(value)
        if value is not None and not all(_LIMITS[n](value, limit) for n, limit in limits.items()):
            raise Unsure
        return value

    return read


def _fits_pattern(value: Any, pattern: str) -> bool:
    """Whether ASCII text in one line fits: there, Python's patterns and pydantic's are the same."""
    return value.isascii() and "\n" not in value and re.search(pattern, value) is not None


_LIMITS: Mapping[str, Callable[[Any, Any], bool]] = {
    "gt": lambda value, limit: value > limit,
    "ge": lambda value, limit: value >= limit,
    "lt": lambda value, limit: value < limit,
    "le": lambda value, limit: value <= limit,
    "min_length": lambda value, limit: len(value) >= limit,
    "pattern": _fits_pattern,
}
