"""The resolved config: files merged in order, later ones win. Pure: bytes in, tables out."""

import json
from collections.abc import Iterable, Mapping
from datetime import date, time
from typing import Any

from herorun.core.config.command_keys import command_keys
from herorun.core.untrusted_toml import parse_toml

OVERRIDES = "overrides"  # the table that Hydra's list of overrides becomes
MAX_BYTES = 16_000_000  # bytes of a config: what is larger is data, and no run's settings


class UnreadableConfig(ValueError):
    """A file could not be parsed; the text names it."""


def parse_config(name: str, data: bytes) -> dict[str, Any]:
    """TOML, JSON or YAML, by the file's ending. A key that is given twice is an error."""
    if len(data) > MAX_BYTES:
        raise UnreadableConfig(
            f"{name} is larger than {MAX_BYTES // 1_000_000} MB: too large for a config"
        )
    try:
        document = _parse_config(name, data)
        tables = _without_times(_overrides(document))
    except UnicodeDecodeError:
        raise UnreadableConfig(f"{name} is not UTF-8 text") from None
    except RecursionError:
        raise UnreadableConfig(f"{name} is nested too deeply, or refers to itself") from None
    except ValueError as error:
        if isinstance(error, UnreadableConfig):
            raise
        raise UnreadableConfig(f"{name}: {str(error).splitlines()[0]}") from None
    if not isinstance(tables, dict):
        content = "empty" if document is None else f"a {type(document).__name__}"
        raise UnreadableConfig(f"{name} is {content}, not a table of keys")
    return tables


def _parse_config(name: str, data: bytes) -> Any:
    from herorun.core.config.references import resolve_references

    match name.rpartition(".")[2].lower():
        case "toml":
            return parse_toml(data.decode())
        case "json":
            return parse_json(data.decode())
        case "yaml" | "yml":
            from herorun.core.config.yaml_text import parse_yaml

            return resolve_references(parse_yaml(data))
    raise UnreadableConfig(f"{name}: a config file must end in .toml, .json, .yaml or .yml")


def parse_json(text: str) -> Any:
    """JSON whose tables name each key once; NaN and Infinity are read as trainers write them."""
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise ValueError(f"the key {key!r} is given twice")
        table[key] = value
    return table


def _overrides(document: Any) -> Any:
    """Hydra's `overrides.yaml` is a list. It becomes a table of its own: `model=big` names a group,
    not a value.
    """
    texts = isinstance(document, list) and all(isinstance(item, str) for item in document)
    if not texts or not all("=" in item or item.startswith("~") for item in document):
        return document
    return {OVERRIDES: command_keys(document)}


def _without_times(value: Any) -> Any:
    """TOML and YAML know dates and times, mostly without a zone; here they are the text that JSON
    would hold.
    """
    if isinstance(value, dict):
        return _once((str(key), _without_times(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return [_without_times(item) for item in value]
    return value.isoformat() if isinstance(value, (date, time)) else value


def merge(base: Mapping[str, Any], override: Mapping[str, Any]) -> dict[str, Any]:
    """Nested tables merged; every other value replaced."""
    merged_table = dict(base)
    for key, value in override.items():
        before = merged_table.get(key)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            merged_table[key] = merge(before, value)
        else:
            merged_table[key] = value
    return merged_table
