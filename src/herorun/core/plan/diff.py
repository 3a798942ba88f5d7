"""What differs between two plans."""

from collections.abc import Iterator, Mapping
from typing import Any

from herorun.core.canonical_json import canonical

MAX_LENGTH = 240  # characters of a line
_SETS = ("packages",)  # of a longer list whose order says nothing, the line has what differs


def describe_differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """What differs between two plans' values, one line a value, in words."""
    return tuple(
        _describe_difference(name, old, new) for name, old, new in _different(before, after, "")
    )


def _describe_difference(name: str, old: Any, new: Any) -> str:
    line = f"{name}: {_show_side(old)} -> {_show_side(new)}"
    if name not in _SETS or len(line) <= MAX_LENGTH or not (_is_list(old) and _is_list(new)):
        return line
    only_old = [item for item in old if item not in new]
    only_new = [item for item in new if item not in old]
    if not only_old and not only_new:  # only their order or number differs
        return line
    others = f"{len(old) - len(only_old)} others on both sides"
    return f"{name}: {_show_side(only_old)} -> {_show_side(only_new)} ({others})"


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _different(
    before: Mapping[str, Any], after: Mapping[str, Any], at: str
) -> Iterator[tuple[str, Any, Any]]:
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name, _ABSENT), after.get(name, _ABSENT)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _different(old, new, f"{at}{name}.")
        elif type(old) is not type(new) or old != new:  # true is not 1
            yield f"{at}{name}", old, new


_ABSENT = object()


def _show_side(value: Any) -> str:
    match value:
        case None:
            return "none"
        case str():
            return value or "(empty)"
        case Mapping():
            return ", ".join(f"{key} {_show_side(item)}" for key, item in value.items()) or "none"
        case list() | tuple():
            return f"[{', '.join(_show_side(item) for item in value)}]"
    return "absent" if value is _ABSENT else canonical(value)
