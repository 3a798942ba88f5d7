"""The thresholds that a contract sets for checks, and the checks that may stop its job."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from types import MappingProxyType
from typing import Any

from herorun.core.check import Gate
from herorun.core.contract import Contract, Fault
from herorun.core.contract.values import present_keys, superfluous_names
from herorun.core.errors import WrongTable
from herorun.discover import checks


def check_limits(contract: Contract) -> dict[str, Any]:
    """The thresholds that the contract sets, by check, validated by each check's `Limits`; a
    `WrongTable` has every fault.
    """
    faults = list(_faults_of_stop_on(contract.babysit.stop_on))
    set_here: dict[str, Any] = {}
    if contract.babysit.thresholds:  # without any, no check is imported
        limit_types: dict[str, type[Any] | None] = {}
        for check in checks():
            limit_types[check.name] = check.limits or limit_types.get(check.name)
        for name, values in contract.babysit.thresholds.items():
            limits = _limits_of(limit_types, name, values)
            if isinstance(limits, list):
                faults += [(("thresholds", name, *place), message) for place, message in limits]
            else:
                set_here[name] = limits
    if faults:
        raise WrongTable("babysit", "", faults)
    return set_here


def _limits_of(
    limit_types: Mapping[str, type[Any] | None], name: str, values: Mapping[str, Any]
) -> Any:
    """The limits of one check, or a list of the faults."""
    if name not in limit_types:
        suggestion = f"{_suggest_name(name, limit_types)} see `herorun explain --list`"
        return [((), f"[babysit.thresholds] names {name!r}, which is not a check:{suggestion}")]
    head, kind = f"[babysit.thresholds.{name}]: ", limit_types[name]
    if kind is None:
        return [((), f"{head}that check has no thresholds. Remove the table")]
    new_names = getattr(kind, "RENAMED", {})
    superfluous = dict(superfluous_names(values, new_names))
    faults: list[Fault] = [((key,), f"{head}{message}") for key, message in superfluous.items()]
    single = {key: value for key, value in values.items() if key not in superfluous}
    present = present_keys(single, new_names)
    names = [field.name for field in fields(kind)]
    unknown_keys = _faults_of_keys(present, names, new_names)
    faults += [(place, f"{head}{message}") for place, message in unknown_keys]
    rest = {key: value for key, value in present.items() if key in names}
    limits = _limits(kind, rest)
    if isinstance(limits, list):
        faults += [(place, f"{head}{message}") for place, message in limits]
    return faults or limits


def _suggest_name(
    word: str, names: Iterable[str], new_names: Mapping[str, str] = MappingProxyType({})
) -> str:
    """The closest name, as a question. One that is close to an earlier name means the present
    one.
    """
    from herorun.core.suggestions import closest_names

    closest = closest_names(word, [*names, *new_names])
    return f" did you mean `{new_names.get(closest[0], closest[0])}`?" if closest else ""


def _faults_of_keys(
    values: Mapping[str, Any], names: Sequence[str], new_names: Mapping[str, str]
) -> Iterator[Fault]:
    for key in sorted(values.keys() - set(names)):
        suggestion = _suggest_name(key, names, new_names) or f" there are {', '.join(names)}"
        yield (key,), f"unknown key `{key}`:{suggestion}"


def _faults_of_stop_on(names: tuple[str, ...]) -> Iterator[Fault]:
    """Only what the babysitter asks can stop a job."""
    health_names = {check.name for check in checks(Gate.HEALTH)} if names else set()
    for name in names:
        if name not in health_names:
            suggestion = f"{_suggest_name(name, health_names)} see `herorun explain --list`"
            yield ("stop_on",), f"[babysit] stop_on names {name!r}, no health check:{suggestion}"


def _limits(kind: Any, values: Mapping[str, Any]) -> Any:
    """The validated limits, or a list of the faults."""
    from pydantic import ValidationError

    from herorun.core.contract import explain_faults

    try:
        return _validator(kind).validate_python(_durations(kind, values))
    except ValidationError as error:
        return explain_faults(error)
    except ValueError as error:
        return [((), str(error))]


@cache
def _validator(kind: Any) -> Any:
    """Kept: a babysitter opens its run at each tick, and making one takes longer than its use."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _durations(kind: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    from datetime import timedelta

    from herorun.core.contract import parse_duration

    types = {field.name: field.type for field in fields(kind)}
    return {k: parse_duration(v) if types[k] is timedelta else v for k, v in values.items()}
