"""Parses a contract file, and explains its mistakes."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from herorun.core import lazy_pydantic
from herorun.core.contract.model import Contract, ContractFile
from herorun.core.contract.values import superfluous_names
from herorun.core.errors import WrongTable, WrongUse
from herorun.core.finding import count
from herorun.core.lazy_pydantic import BaseModel
from herorun.core.untrusted_toml import parse_toml

if TYPE_CHECKING:  # it is imported where something is wrong
    from herorun.core.lazy_pydantic import ValidationError

Fault: TypeAlias = tuple[tuple[str | int, ...], str]  # where it is, and what is wrong
_TYPES = ("int", "str", "float", "bool")  # as pydantic names the members of a union
MAX_FAULTS = 20  # of one file that are shown
_ONE_OF = "neither a number nor text of the right kind"


def parse_contract(text: str, where: str) -> Contract:
    """Read a contract's TOML; a `WrongUse` names each place and how to fix it."""
    with suppress(ValueError, RecursionError):  # pydantic's errors are ValueErrors too
        return _parse_valid(text)
    try:
        return _contract_from(parse_toml(text), where, text)
    except ValueError as error:
        raise WrongUse(f"{where} is not valid TOML: {error}.") from None
    except RecursionError:
        raise WrongUse(f"{where} is not a contract: it is nested too deeply.") from None


@lru_cache(maxsize=4096)
def _parse_valid(text: str) -> Contract:
    """A fleet's process reads the same contracts at each tick, and each of them twice: as the file
    has it and as the launch did.
    """
    return Contract.model_validate(parse_toml(text))


def contract_from(data: Mapping[str, Any], where: str) -> Contract:
    return _contract_from(data, where, "")


def _contract_from(data: Mapping[str, Any], where: str, text: str) -> Contract:
    try:
        return Contract.model_validate(data)
    except lazy_pydantic.ValidationError as error:
        faults = explain_faults(error, Contract, data)
        raise WrongContract(faults, where, text, data) from None


class WrongContract(WrongUse):
    """What is wrong in a contract's own keys."""

    def __init__(
        self, faults: Sequence[Fault], where: str, text: str, data: Mapping[str, Any]
    ) -> None:
        self.faults, self._data = faults, data
        super().__init__(_describe_faults(faults, where, text))

    def __reduce__(self) -> tuple[Any, ...]:
        return WrongUse, (str(self),)

    @property
    def rest(self) -> Contract | None:
        """The contract without what is wrong, to find what else is; None where too little is left.
        Nothing may be done by it.
        """
        data = _without(self._data, [place for place, _ in self.faults])
        try:
            return Contract.model_validate({**_REQUIRED_ONLY, **data})
        except ValueError:
            return None


_REQUIRED_ONLY = {"slug": "unnamed", "command": {"argv": ["true"]}, "output": {"root": "/unnamed"}}


def _without(data: Mapping[str, Any], places: Sequence[tuple[str | int, ...]]) -> dict[str, Any]:
    """A copy without the keys at these places, and without a table that lacks a required one."""
    copy: dict[str, Any] = deepcopy(dict(data))
    for place in places:
        table: Any = copy
        for part in place[:-1]:
            table = table[part] if _has(table, part) else None
        if place and _has(table, place[-1]) and isinstance(table, dict):
            del table[place[-1]]
        else:
            copy.pop(str(place[0]) if place else "", None)
    for name, least in _REQUIRED_ONLY.items():
        if isinstance(least, dict) and not least.keys() <= copy.get(name, {}).keys():
            copy.pop(name, None)
    return copy


def _has(table: Any, part: str | int) -> bool:
    if isinstance(table, dict):
        return part in table
    return isinstance(table, list) and isinstance(part, int) and part < len(table)


def locate_faults(errors: Sequence[WrongTable], file: ContractFile) -> WrongUse:
    """The faults of these tables, each with its line of the contract; the first table's as they
    are where its text is not at hand.
    """
    if not file.text:
        return errors[0]
    places: dict[str, tuple[str | int, ...]] = {}
    for error in errors:
        for place, text in _faults_of_table(error):
            places.setdefault(text, place)
    faults = [(place, text) for text, place in places.items()]
    return WrongUse(_describe_faults(faults, file.path, file.text))


def _faults_of_table(error: WrongTable) -> Iterator[Fault]:
    head = f"[{error.table}] {error.kind}: " if error.kind else ""
    for place, text in error.faults:
        yield (*filter(None, error.table.split(".")), *place), head + text


def _describe_faults(faults: Sequence[Fault], where: str, text: str) -> str:
    """In the order of the lines, where `text` is the file; of several each on a line of its own."""
    lines = list(_add_line_numbers(faults, text))
    if len(lines) == 1:
        return f"{where}: {lines[0]}{'' if lines[0].endswith(('?', '.')) else '.'}"
    if len(lines) > MAX_FAULTS:
        lines[MAX_FAULTS:] = [f"and {len(lines) - MAX_FAULTS} more"]
    return "\n  ".join([f"{where} has {count(len(faults), 'error')}:", *lines])


def _add_line_numbers(faults: Sequence[Fault], text: str) -> Iterator[str]:
    from herorun.core.contract.toml_lines import line_of

    lines = [line_of(text, place) if text and place else None for place, _ in faults]
    for line, (_, message) in sorted(
        zip(lines, faults, strict=True), key=lambda pair: pair[0] or 0
    ):
        yield f"line {line}: {message}" if line else message


def explain_faults(
    error: "ValidationError",
    model: type[BaseModel] | None = None,
    data: Any = None,
    other_keys: Sequence[str] = (),
) -> list[Fault]:
    """Every fault of the input with its place, by the keys that `data`, the input, has.

    `other_keys` may be meant too: the table takes them, and the model does not.
    """
    superfluous = list(_superfluous_keys(model, data))
    if not superfluous or model is None:
        return _faults_of(error, model, data, other_keys)
    # they hide whatever else is wrong in their tables
    rest = _without_keys(data, [place for place, _ in superfluous])
    try:
        model.model_validate(rest)
    except lazy_pydantic.ValidationError as others:
        return [*superfluous, *_faults_of(others, model, rest, other_keys)]
    return superfluous


def _faults_of(
    error: "ValidationError", model: type[BaseModel] | None, data: Any, other_keys: Sequence[str]
) -> list[Fault]:
    faults: dict[Fault, None] = {}
    for fault in _merge_union_faults(error):
        fault["loc"] = _as_written(fault["loc"], model, data)
        faults[fault["loc"], _fault_message(fault, model, other_keys)] = None
    return list(faults)


def _superfluous_keys(
    model: type[BaseModel] | None, data: Any, place: tuple[str | int, ...] = ()
) -> Iterator[Fault]:
    """The keys at which a table states again what another of its keys stands for."""
    if isinstance(data, list):
        for number, entry in enumerate(data):
            yield from _superfluous_keys(model, entry, (*place, number))
    if not isinstance(data, Mapping):
        return
    new_names = getattr(model, "RENAMED", {})
    head = f"[{'.'.join(map(str, place))}]: " if place else ""
    for key, message in superfluous_names(data, new_names):
        yield (*place, key), f"{head}{message}"
    for key, entry in data.items():
        inner = _table_at(model, (str(new_names.get(key, key)),))
        if inner:
            yield from _superfluous_keys(inner, entry, (*place, key))


def _without_keys(data: Mapping[str, Any], places: Sequence[tuple[str | int, ...]]) -> Any:
    copy = {name: deepcopy(value) for name, value in data.items()}
    for *path, key in places:
        table: Any = copy
        for part in path:
            table = table[part]
        del table[key]
    return copy


def _merge_union_faults(error: "ValidationError") -> Iterator[dict[str, Any]]:
    """A key that takes a number or text has a fault for either: one stands for both."""
    earlier: set[tuple[str | int, ...]] = set()
    for fault in error.errors(include_url=False):
        if fault["loc"] and fault["loc"][-1] in _TYPES:
            place = fault["loc"][:-1]
            if place in earlier:
                continue
            earlier.add(place)
            yield {**fault, "loc": place, "msg": _ONE_OF}
        else:
            yield {**fault}


def _fault_message(
    fault: Mapping[str, Any], model: type[BaseModel] | None, other_keys: Sequence[str]
) -> str:
    key = ".".join(str(part) for part in fault["loc"])
    match fault["type"]:
        case "extra_forbidden":
            return f"unknown key `{key}`; {_instead(model, fault['loc'], other_keys)}"
        case "missing":
            is_table = _table_at(model, fault["loc"]) is not None
            return f"missing table [{key}]" if is_table else f"missing key `{key}`"
        case "model_type" | "dict_type":
            return f"`{key}` must be a table, not {fault['input']!r:.80}"
    message = fault["msg"].removeprefix("Value error, ").replace("valid tuple", "list")
    message = f"{message[:1].lower()}{message[1:]}"
    given_value = f"{fault['input']!r:.80}"
    is_shown = (isinstance(fault["input"], str) and given_value in message) or "notify" in fault[
        "loc"
    ][:1]  # an address may be a secret
    value = "" if is_shown else f", not {given_value}"
    return f"`{key}`: {message}{value}" if fault["loc"] else message


def _as_written(
    loc: Sequence[str | int], model: type[BaseModel] | None, data: Any
) -> tuple[str | int, ...]:
    """The place of a fault by the keys that the input uses, where a table takes earlier names."""
    typed_path: list[str | int] = []
    for place, part in enumerate(loc):
        table = _table_at(model, loc[:place])
        new_names = getattr(table, "RENAMED", {})
        keys = data if isinstance(data, Mapping) else ()
        earlier_names = [earlier for earlier, new in new_names.items() if new == part]
        name = next((key for key in (part, *earlier_names) if key in keys), part)
        typed_path.append(name)
        try:
            data = data[name]
        except (LookupError, TypeError):
            data = None
    return tuple(typed_path)


def _instead(
    model: type[BaseModel] | None, loc: Sequence[str | int], other_keys: Sequence[str]
) -> str:
    from herorun.core.suggestions import closest_names

    keys = [*keys_at(model, loc[:-1]), *(other_keys if len(loc) == 1 else ())]
    closest = closest_names(str(loc[-1]), keys)
    if closest:
        name = ".".join(str(part) for part in (*loc[:-1], closest[0]))
        return f"did you mean `{name}`?"
    return "remove it, or look for its name in `herorun schema`"


def keys_at(model: type[BaseModel] | None, path: Sequence[str | int]) -> list[str]:
    """The keys of the table at a path; none where it is no table of the model's."""
    at = _table_at(model, path)
    return [field.alias or name for name, field in at.model_fields.items()] if at else []


def _table_at(model: type[BaseModel] | None, path: Sequence[str | int]) -> type[BaseModel] | None:
    at = model
    for part in path:
        if at is None:
            return None
        if isinstance(part, str):
            fields = {each.alias or name: each for name, each in at.model_fields.items()}
            at = _model_in(fields[part].annotation) if part in fields else None
    return at


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model of a field such as `Issue`, `Issue | None` or `tuple[Waiver, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for each in get_args(annotation) if (model := _model_in(each))), None)
