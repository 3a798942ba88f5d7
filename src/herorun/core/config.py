"""The resolved config: files merged in order, later ones win. Pure: bytes in, tables out."""

import json
import tomllib
from collections.abc import Mapping
from datetime import date, time
from typing import Any


class UnreadableConfig(ValueError):
    """A file could not be parsed; the text names it."""


def parse_config(name: str, data: bytes) -> dict[str, Any]:
    """TOML, JSON or YAML, told by the file's ending."""
    ending = name.rpartition(".")[2].lower()
    try:
        match ending:
            case "toml":
                parsed = tomllib.loads(data.decode())
            case "json":
                parsed = json.loads(data)
            case "yaml" | "yml":
                parsed = _yaml(data)
            case _:
                raise UnreadableConfig(f"{name}: a config file must end in .toml, .json, .yaml or .yml")
    except UnicodeDecodeError:
        raise UnreadableConfig(f"{name} is not UTF-8 text") from None
    except ValueError as error:
        if isinstance(error, UnreadableConfig):
            raise
        raise UnreadableConfig(f"{name}: {str(error).splitlines()[0]}") from None
    if not isinstance(parsed, dict):
        raise UnreadableConfig(f"{name} holds {type(parsed).__name__}, not a table")
    tables: dict[str, Any] = _without_times(parsed)
    return tables


def _without_times(value: Any) -> Any:
    """TOML and YAML know dates and times, mostly without a zone; here they are the text that JSON would hold."""
    if isinstance(value, dict):
        return {str(key): _without_times(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_times(item) for item in value]
    return value.isoformat() if isinstance(value, (date, time)) else value


def _yaml(data: bytes) -> Any:
    import yaml

    try:
        return yaml.safe_load(data)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Nested tables merged; every other value replaced."""
    merged = dict(base)
    for key, value in over.items():
        before = merged.get(key)
        both = isinstance(before, Mapping) and isinstance(value, Mapping)
        merged[key] = merge(before, value) if both else value  # type: ignore[arg-type]
    return merged
