"""Readers of texts, numbers, times and the like, which need no other reader."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum, EnumType
from functools import partial
from typing import Any, TypeAlias

from herorun.core.lazy_regex import lazy_regex


class Unsure(Exception):
    """Only pydantic can tell what becomes of this value."""


Reader: TypeAlias = Callable[[Any], Any]
SCALARS = (str, int, float, bool)
MAX_EXACT = 2**53  # beyond it a float is not each whole number
NON_FINITE = frozenset({"inf", "-inf", "nan"})  # as canonical JSON has them
_STORED_TIME = lazy_regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z")
MIN_TIME, MAX_TIME = datetime(1000, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)
MAX_DURATION = timedelta(days=36_500)


def call_validator(function: Callable[..., Any], /, *values: Any, **by_name: Any) -> Any:
    """The validated value; pydantic reports what it refuses."""
    try:
        return function(*values, **by_name)
    except (ValueError, AssertionError, TypeError):
        raise Unsure from None


def read_exact(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise Unsure
    return value


def read_text(value: Any) -> Any:
    if type(value) is not str or not (value.isascii() or _is_unicode(value)):
        raise Unsure
    return value


def _is_unicode(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_float(value: Any, is_stored: bool) -> Any:
    if type(value) is float:
        return value
    if type(value) is int and -MAX_EXACT < value < MAX_EXACT:
        return float(value)
    if is_stored and type(value) is str and value in NON_FINITE:
        return float(value)
    raise Unsure


OF_SCALAR: Mapping[Any, Reader] = {
    str: read_text,
    int: partial(read_exact, int),
    bool: partial(read_exact, bool),
    type(None): partial(read_exact, type(None)),
    None: partial(read_exact, type(None)),
}


def read_time(value: Any, is_stored: bool) -> Any:
    if type(value) is datetime and not is_stored:
        return value
    if type(value) is not str or not _STORED_TIME.fullmatch(value):
        raise Unsure
    at = call_validator(datetime.fromisoformat, value)
    if is_stored and not MIN_TIME <= at <= MAX_TIME:
        raise Unsure
    return at


def read_stored_bytes(value: Any) -> Any:
    if type(value) is not str or not value.isascii():
        raise Unsure
    return value.encode()


def read_stored_duration(value: Any) -> Any:
    if type(value) not in (float, int) or not -1e10 < value < 1e10:
        raise Unsure
    duration = timedelta(seconds=value)
    if duration.total_seconds() != value or not -MAX_DURATION <= duration <= MAX_DURATION:
        raise Unsure
    return duration


def read_member(kind: EnumType, value: Any) -> Any:
    if type(value) is kind:
        return value
    own = kind._value2member_map_.get(value) if type(value) in (str, int) else None
    if not isinstance(own, Enum) or type(own.value) is not type(value):
        raise Unsure
    return own
