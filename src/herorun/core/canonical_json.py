"""Canonical JSON: equal values give equal text. Digests are computed over that text.

Keys are sorted, separators are tight, non-finite numbers are strings and times are UTC with a Z, so
that the same value has the same bytes in every process and on every machine.
"""

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import partial
from math import isfinite
from operator import attrgetter
from typing import TYPE_CHECKING, Any

# OpenSSL hashes long data in a seventh of the time of Python's own modules, and takes 4 ms to load.
try:
    from _sha1 import sha1 as _own_sha1  # type: ignore[import-not-found]  # private
except ImportError:  # Python was built without it
    from hashlib import sha1 as _own_sha1
try:
    from _sha2 import sha256 as _own_sha256  # type: ignore[import-not-found]  # Python 3.12
except ImportError:
    try:
        from _sha256 import sha256 as _own_sha256  # type: ignore[import-not-found]  # before 3.12
    except ImportError:
        from hashlib import sha256 as _own_sha256

if TYPE_CHECKING:
    from hashlib import _Hash

LONG = 1 << 20  # bytes, for which OpenSSL is loaded
_AS_THEY_ARE = frozenset({str, int, bool, type(None)})
_ENCODER = json.JSONEncoder(
    sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False
)


def plain(value: Any) -> Any:
    """The JSON-able form of a value: dataclasses become objects, durations seconds."""
    kind = type(value)
    if kind in _AS_THEY_ARE:  # as nearly all that a tick keeps
        return value
    return (_FORMS.get(kind) or _form_of(kind))(value)


def _form_of(kind: type) -> Callable[[Any], Any]:
    """How a type's values are made plain, looked up once for each type."""
    form_of_kind = next((form for base, form in _BY_BASE if issubclass(kind, base)), None)
    if form_of_kind is None and dataclasses.is_dataclass(kind):
        names = tuple(field.name for field in dataclasses.fields(kind))
        form_of_kind = partial(_object, names, attrgetter("__class__", *names))
    return _FORMS.setdefault(kind, form_of_kind or _no_form)


def _no_form(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} has no canonical form")


# In the next three, what stays as it is costs no call: a tick makes thousands of values plain.


def _object(
    names: tuple[str, ...], values: Callable[[Any], tuple[Any, ...]], value: Any
) -> dict[str, Any]:
    """`values` gives the class, so that one field makes a tuple too, and the fields."""
    return {
        name: item
        if (kind := type(item)) in _AS_THEY_ARE or (kind is float and isfinite(item))
        else plain(item)
        for name, item in zip(names, values(value)[1:], strict=True)
    }


def _mapping(value: Mapping[Any, Any]) -> dict[str, Any]:
    return {
        key if type(key) is str else str(plain(key)): item
        if (kind := type(item)) in _AS_THEY_ARE or (kind is float and isfinite(item))
        else plain(item)
        for key, item in value.items()
    }


def _sequence(value: Iterable[Any]) -> list[Any]:
    return [
        item
        if (kind := type(item)) in _AS_THEY_ARE or (kind is float and isfinite(item))
        else plain(item)
        for item in value
    ]


def _float(value: float) -> float | str:
    return value if isfinite(value) else str(value)


def _bytes(value: bytes) -> str:
    return value.decode("utf-8", "backslashreplace")


def _set(value: Iterable[Any]) -> list[Any]:
    return sorted(_sequence(value), key=canonical)


# The first that fits counts: some enums are texts too.
_BY_BASE: tuple[tuple[type | tuple[type, ...], Callable[[Any], Any]], ...] = (
    (Enum, lambda value: value.value),
    ((bool, int, str), lambda value: value),
    (float, _float),
    (datetime, lambda value: timestamp(value)),
    (timedelta, timedelta.total_seconds),
    (bytes, _bytes),
    (Mapping, _mapping),
    ((set, frozenset), _set),
    ((list, tuple), _sequence),
)
_FORMS: dict[type, Callable[[Any], Any]] = {}


def canonical(value: Any) -> str:
    """One line of canonical JSON."""
    return canonical_json(plain(value))


def canonical_json(value: Any) -> str:
    """The same of what `json.loads` gave, which is plain as it is: a third of the time of reading a
    long journal.
    """
    return _ENCODER.encode(value)


def digest(value: Any) -> str:
    """`sha256:` and the hex digest of the canonical JSON."""
    return digest_of(canonical(value))


def digest_of(text: str) -> str:
    """`sha256:` and the hex digest of a text that is canonical already."""
    return "sha256:" + sha256(text.encode("ascii")).hexdigest()


def timestamp(at: datetime) -> str:
    """`2026-11-21T00:02:27Z`, with microseconds where there are any. Naive times are refused.

    >>> timestamp(datetime(2026, 1, 1, 12, tzinfo=UTC))
    '2026-01-01T12:00:00Z'
    """
    if at.tzinfo is None:
        raise ValueError(f"{at} has no time zone")
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def sha1(data: bytes) -> "_Hash":
    """It names git's objects; no secret rests on it."""
    make = _own_sha1
    if len(data) >= LONG:
        from hashlib import sha1 as make
    digest: _Hash = make(data, usedforsecurity=False)
    return digest


def sha256(data: bytes) -> "_Hash":
    make = _own_sha256
    if len(data) >= LONG:
        from hashlib import sha256 as make
    digest: _Hash = make(data, usedforsecurity=False)
    return digest
