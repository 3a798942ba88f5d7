"""Canonical JSON: equal values give equal text. Digests are computed over that text.

Keys are sorted, separators are tight, non-finite numbers are strings and times are UTC with a Z, so
that the same value has the same bytes in every process and on every machine.
"""

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any

_AS_THEY_ARE = frozenset({str, int, bool, type(None)})


def plain(value: Any) -> Any:
    """The JSON-able form of a value: dataclasses become objects, durations seconds."""
    kind = type(value)
    if (
        kind in _AS_THEY_ARE
    ):  # as nearly all that a tick keeps; subclasses, such as enums, are looked at below
        return value
    if kind is dict:
        return {
            key if type(key) is str else str(plain(key)): plain(item) for key, item in value.items()
        }
    match value:
        case Enum():
            return value.value
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case datetime():
            return timestamp(value)
        case timedelta():
            return value.total_seconds()
        case bytes():
            return value.decode("utf-8", "backslashreplace")
        case Mapping():
            return {str(plain(key)): plain(item) for key, item in value.items()}
        case set() | frozenset():
            return sorted((plain(item) for item in value), key=canonical)
        case list() | tuple():
            return [plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    raise TypeError(f"{type(value).__name__} has no canonical form")


def canonical(value: Any) -> str:
    """One line of canonical JSON."""
    return canonical_json(plain(value))


def canonical_json(value: Any) -> str:
    """The same of what `json.loads` gave, which is plain as it is: a third of the time of reading a
    long journal.
    """
    return json.dumps(
        value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False
    )


def digest(value: Any) -> str:
    """`sha256:` and the hex digest of the canonical JSON."""
    return digest_of(canonical(value))


def digest_of(text: str) -> str:
    """`sha256:` and the hex digest of a text that is canonical already."""
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def timestamp(at: datetime) -> str:
    """`2026-11-21T00:02:27Z`, with microseconds where there are any. Naive times are refused.

    >>> timestamp(datetime(2026, 1, 1, 12, tzinfo=UTC))
    '2026-01-01T12:00:00Z'
    """
    if at.tzinfo is None:
        raise ValueError(f"{at} has no time zone")
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
