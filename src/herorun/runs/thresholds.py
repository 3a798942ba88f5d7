"""The thresholds that a contract sets for checks, and the checks that may stop its job."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from herorun.core.check import Gate
from herorun.core.contract import Contract, ContractFile
from herorun.core.errors import WrongUse
from herorun.discover import checks


def check_limits(contract: Contract, file: ContractFile | None = None) -> dict[str, Any]:
    """The thresholds that the contract sets, by check, validated by each check's `Limits`; with the
    `file` a fault names its line.
    """
    _must_be_health(contract.babysit.stop_on)
    set_here: dict[str, Any] = {}
    if not contract.babysit.thresholds:  # then no check is imported for it
        return set_here
    limit_types: dict[str, type[Any] | None] = {}
    for check in checks():
        limit_types[check.name] = check.limits or limit_types.get(check.name)
    for name, values in contract.babysit.thresholds.items():
        where = _threshold_line(file, name)
        if name not in limit_types:
            raise WrongUse(
                f"{where}[babysit.thresholds] names {name!r}, which is not a check:"
                f"{_suggest_name(name, limit_types)} see `herorun explain --list`."
            )
        kind = limit_types[name]
        if kind is None:
            raise WrongUse(
                f"{where}[babysit.thresholds.{name}]: that check has no thresholds. Remove the "
                "table."
            )
        present = _present_limits(kind, where, name, values)
        _must_have_keys(kind, name, present, file)
        set_here[name] = _limits(kind, where, name, present)
    return set_here


def _present_limits(
    kind: type[Any], where: str, name: str, values: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Each by its present name; a contract on record may have one of `RENAMED`."""
    from herorun.core.contract.values import present_keys

    try:
        return present_keys(values, getattr(kind, "RENAMED", {}))
    except ValueError as error:
        raise WrongUse(f"{where}[babysit.thresholds.{name}]: {error}.") from None


def _threshold_line(file: ContractFile | None, *path: str) -> str:
    from herorun.core.contract.toml_lines import line_of

    line = line_of(file.text, ("babysit", "thresholds", *path)) if file else None
    return f"{file.path}, line {line}: " if file and line else ""


def _suggest_name(word: str, names: Iterable[str]) -> str:
    from difflib import get_close_matches

    closest = get_close_matches(word, list(names), 1)
    return f" did you mean `{closest[0]}`?" if closest else ""


def _must_have_keys(
    kind: type[Any], name: str, values: Mapping[str, Any], file: ContractFile | None
) -> None:
    names = [field.name for field in fields(kind)]
    for key in sorted(values.keys() - set(names)):
        suggestion = _suggest_name(key, names) or f" there are {', '.join(names)}."
        raise WrongUse(
            f"{_threshold_line(file, name, key)}[babysit.thresholds.{name}]: unknown key "
            f"`{key}`:{suggestion}"
        )


def _must_be_health(names: tuple[str, ...]) -> None:
    """Only what the babysitter asks can stop a job."""
    health_names = {check.name for check in checks(Gate.HEALTH)} if names else set()
    for name in names:
        if name not in health_names:
            raise WrongUse(
                f"[babysit] stop_on names {name!r}, which is no health check: see `herorun "
                "explain --list`."
            )


def _limits(kind: type[Any], where: str, name: str, values: Mapping[str, Any]) -> Any:
    from pydantic import TypeAdapter, ValidationError

    from herorun.core.contract import explain_errors

    try:
        return TypeAdapter(kind).validate_python(_durations(kind, values))
    except (ValidationError, ValueError) as error:
        message = explain_errors(error) if isinstance(error, ValidationError) else f"{error}."
        raise WrongUse(f"{where}[babysit.thresholds.{name}]: {message}") from None


def _durations(kind: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    from datetime import timedelta

    from herorun.core.contract import parse_duration

    types = {field.name: field.type for field in fields(kind)}
    return {k: parse_duration(v) if types[k] is timedelta else v for k, v in values.items()}
