"""One line of JSON as one row of metrics. Pure: bytes in, a row out."""

import json
import math
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from herorun.core.lazy_regex import lazy_regex
from herorun.core.ports import Row
from herorun.core.row_bounds import MAX_STEP

STEP_KEYS = ("step", "_step", "global_step", "train/global_step")
TIME_KEYS = ("timestamp", "_timestamp")
LOOSE_TIME_KEY = "time"  # the row's time only if its value is one: it may as well be a duration
_CLOCKS = (*TIME_KEYS, LOOSE_TIME_KEY)
_MIN_UNIX_TIME = 1e8  # seconds: a smaller number counts from some other start than 1970
_MILLISECONDS = 1e11
_NON_FINITE = {
    word: float(word)
    for word in ("nan", "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity")
}
_DECIMAL = lazy_regex(r"[+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:e[+-]?\d{1,3})?", re.ASCII)


_decode = json.JSONDecoder().raw_decode  # `json.loads` also skips blanks around it


class UnusableLine(ValueError):
    """Why a line gives no row, without its content."""


def parse_row(line: bytes, step_keys: tuple[str, ...] = STEP_KEYS) -> Row | None:
    """One line as a row; None for a blank one and for json_logger events other than `log`."""
    try:
        record = _record(line)
        if record is None:
            return None
        if row := _plain_row(record, step_keys):
            return row
        if record.get("tracker") != "json_logger":
            fields = metrics = _flat(record, "", {})
        elif record.get("event") == "log":
            logged_metrics = record.pop("metrics", None)
            metrics = _flat(logged_metrics, "", {}) if isinstance(logged_metrics, dict) else {}
            fields = {**metrics, **_flat(record, "", {})}
        else:
            return None
    except RecursionError:
        raise UnusableLine("nested too deeply") from None
    key, step = _find_step(fields, step_keys)
    numbers, clock = {}, time_key(fields)
    for name, value in metrics.items():
        number = value if type(value) is float else parse_number(value)
        if number is not None and name not in (key, clock) and name not in TIME_KEYS:
            numbers[name] = number
    return Row(step, numbers, parse_time(fields.get(clock)))


def _plain_row(record: Mapping[str, Any], step_keys: tuple[str, ...]) -> Row | None:
    """The row of an object of bare numbers, as most are, in half the time; None for any other."""
    key = step_keys[0]
    if key not in record:
        key = next((other for other in step_keys if other in record), "")
    step = record.get(key)
    if type(step) is not int or not 0 <= step <= MAX_STEP:
        return None
    numbers = {}
    for name, value in record.items():
        if type(value) is float:
            numbers[sys.intern(name)] = value
        elif name != key:
            return None
    if numbers.keys().isdisjoint(_CLOCKS):
        return Row(step, numbers)
    clock = time_key(record)
    own_names = [name for name in numbers if name != clock and name not in TIME_KEYS]
    return Row(step, {name: numbers[name] for name in own_names}, parse_time(record.get(clock)))


def _record(line: bytes) -> dict[str, Any] | None:
    """The line's object. Only a json_logger line may stand behind the prefix of a log."""
    try:
        text = line.decode().strip("\ufeff\0 \t\r\n")
        start = text.find("{")
        if not text:
            return None
        text = text[start:] if start > 0 else text
        record, end = _decode(text)
        if end != len(text):
            raise UnusableLine("not JSON")
    except UnusableLine:
        raise
    except UnicodeDecodeError:
        raise UnusableLine("not UTF-8") from None
    except RecursionError:
        raise UnusableLine("nested too deeply") from None
    except ValueError:
        raise UnusableLine("not JSON") from None
    if start and (start < 0 or record.get("tracker") != "json_logger"):
        raise UnusableLine("not a JSON object")
    return record  # type: ignore[no-any-return]  # it begins with a brace


def _flat(table: Mapping[str, Any], prefix: str, leaves: dict[str, Any]) -> dict[str, Any]:
    """The leaves under slash-joined names, added to `leaves`; null is no observation."""
    for name, value in table.items():
        if type(value) is dict:
            _flat(value, f"{prefix}{name}/", leaves)
        elif value is not None:
            leaves[sys.intern(f"{prefix}{name}" if prefix else name)] = value
    return leaves


def _find_step(fields: Mapping[str, Any], keys: tuple[str, ...]) -> tuple[str, int]:
    for key in keys:
        value = fields.get(key)
        if value is None:
            continue
        if isinstance(value, str):
            value = parse_number(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool):
            if value < 0:
                raise UnusableLine("a negative step")
            if value > MAX_STEP:
                raise UnusableLine(f"a step beyond {MAX_STEP:,}, which no training reaches")
            return key, value
    raise UnusableLine("no step")


def parse_number(value: Any) -> float | None:
    """A finite or non-finite number, as text too; None for everything else."""
    match value:
        case bool():
            return None
        case int() | float():
            try:
                return float(value)
            except OverflowError:
                return math.inf if value > 0 else -math.inf
        case str():
            text = value.strip().lower()
            return float(text) if _DECIMAL.fullmatch(text) else _NON_FINITE.get(text)
        case _:
            return None


def time_key(fields: Mapping[str, Any]) -> str:
    """Which field is the time of the row; empty if none is."""
    key = next((key for key in TIME_KEYS if key in fields), "")
    return key or (LOOSE_TIME_KEY if parse_time(fields.get(LOOSE_TIME_KEY)) else "")


def parse_time(stamp: Any) -> datetime | None:
    """When a row was logged; None of what is no time with a zone."""
    if stamp is None:
        return None
    try:
        if isinstance(stamp, str):
            row_time = datetime.fromisoformat(stamp)
            return row_time.astimezone(UTC) if row_time.tzinfo else None
        seconds = parse_number(stamp)
        if seconds is None or not seconds >= _MIN_UNIX_TIME:
            return None
        return datetime.fromtimestamp(seconds / 1000 if seconds > _MILLISECONDS else seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
