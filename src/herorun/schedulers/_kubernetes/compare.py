"""Compares what the server admitted with what was sent: a server or a webhook may silently drop or
change a field. Fields that it adds are accepted. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

_UNITS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_HARMFUL = {
    "ttlSecondsAfterFinished": "deleted after its end",
    "activeDeadlineSeconds": "ended after that time",
    "rules": "started again",  # of a failure policy of JobSet
}
# A server that writes Go's zero values by leaving them out means the same.
_ZEROS = {"spec.failurePolicy.maxRestarts": 0}
_BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


def differing_fields(
    request: Mapping[str, Any], admitted_document: Any, tolerated_fields: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """In words, each with its path: `spec.suspend was dropped`."""
    fields = (
        *_differences("", request, admitted_document),
        *_ended_early(request, admitted_document),
    )
    return tuple(description for path, description in fields if path not in tolerated_fields)


def _ended_early(request: Mapping[str, Any], admitted_document: Any) -> Iterator[tuple[str, str]]:
    """What may not be added: it would delete the record, end the job or start it again."""
    for path in _specs(request):
        spec = _at(admitted_document, path)
        for name, harm in _HARMFUL.items():
            value = spec.get(name) if isinstance(spec, Mapping) else None
            if value is not None and name not in (_at(request, path) or {}):
                where = ".".join(map(str, (*path, name))).replace(".0.", "[0].")
                yield where, f"{where} was added as {value}: the Job would be {harm}"


def _specs(request: Mapping[str, Any]) -> tuple[tuple[str | int, ...], ...]:
    if "replicatedJobs" not in (request.get("spec") or {}):
        return (("spec",),)
    inner = ("spec", "replicatedJobs", 0, "template", "spec")
    return (("spec",), ("spec", "failurePolicy"), inner)


def _at(document: Any, path: Sequence[str | int]) -> Any:
    for step in path:
        try:
            document = document[step]
        except (KeyError, IndexError, TypeError):
            return None
    return document


def _differences(path: str, request: Any, admitted_document: Any) -> Iterator[tuple[str, str]]:
    if isinstance(request, Mapping):
        for name, value in request.items():
            inside = f"{path}.{name}" if path else str(name)
            if not isinstance(admitted_document, Mapping) or name not in admitted_document:
                if value not in ({}, [], None) and _ZEROS.get(inside, ...) != value:
                    yield inside, f"{inside} was dropped"
            else:
                yield from _differences(inside, value, admitted_document[name])
    elif isinstance(request, list) and request and isinstance(request[0], Mapping):
        others = _by_place(admitted_document)
        for place, value in _by_place(request).items():
            inside = f"{path}[{place}]"
            if place not in others:
                yield inside, f"{inside} was dropped"
            else:
                yield from _differences(inside, value, others[place])
    elif not _same(path, request, admitted_document):
        yield path, f"{path} was changed from {_show(request)} to {_show(admitted_document)}"


def _by_place(items: Any) -> dict[Any, Any]:
    """Tables by their names, others by their numbers: what is inserted before them moves them."""
    tables = items if isinstance(items, list) else []
    return {
        each["name"] if isinstance(each, Mapping) and "name" in each else number: each
        for number, each in enumerate(tables)
    }


def _same(path: str, request: Any, admitted_document: Any) -> bool:
    if request == admitted_document:
        return True
    return (
        ".resources." in path
        and quantity(request) is not None
        and quantity(request) == quantity(admitted_document)
    )


def quantity(text: Any) -> Decimal | None:
    """
    >>> quantity("1024Mi") == quantity("1Gi"), quantity("0.5") == quantity("500m")
    (True, True)
    """
    word = str(text)
    try:
        for power, unit in enumerate(_BINARY, 1):
            if word.endswith(unit):
                return Decimal(word.removesuffix(unit)) * Decimal(1024**power)
        unit = word[-1:] if word[-1:] in _UNITS and not word[-1:].isdigit() else ""
        return Decimal(word.removesuffix(unit)) * Decimal(10) ** _UNITS[unit]
    except InvalidOperation:
        return None


def _show(value: Any) -> str:
    text = "nothing" if value is None else f"{value!r}"
    return text if len(text) <= 80 else f"{text[:77]}..."
