"""YAML as trainers dump it: unknown tags are read as their plain value, and nothing is ever
executed.

`!!python/tuple` is a list, an enum's call is its argument, and a named object is its name: what
tells two configs apart is kept as text.
"""

from collections.abc import Hashable
from typing import Any

import yaml

MAX_VALUES = 1_000_000  # values of a document, its aliases written out
KIND = "!"  # the key under which a table of a Python class names it
_PYTHON = "tag:yaml.org,2002:python/"
_CLASS = (f"{_PYTHON}object:", f"{_PYTHON}object/new:", f"{_PYTHON}object/apply:")
_PYTHON_TAGS = (f"{_PYTHON}name:", f"{_PYTHON}module:")


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # the package has no types
    """Reads what safe_load reads; a key that is given twice is an error, an unknown tag is none."""


def parse_yaml(data: bytes) -> Any:
    """The value of one document; ValueError says in one line where it is broken."""
    try:
        document = yaml.load(data, _Loader)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None
    if _count_expanded(document, {}) > MAX_VALUES:
        raise ValueError(f"its aliases (*name) stand for more than {MAX_VALUES:,} values")
    return document


def _count_expanded(value: Any, sizes: dict[int, int]) -> int:
    """How many values it comes to when every alias is written out; each shared one is counted once
    and multiplied.
    """
    if not isinstance(value, (dict, list, tuple, set)):
        return 1
    if id(value) not in sizes:
        below = value.values() if isinstance(value, dict) else value
        sizes[id(value)] = 1 + sum(_count_expanded(item, sizes) for item in below)
    return sizes[id(value)]


def _construct_table(loader: _Loader, node: yaml.MappingNode) -> Any:
    _demand_once(loader, node)
    table: dict[Hashable, Any] = {}
    yield table
    table.update(loader.construct_mapping(node, deep=True))


def _demand_once(loader: _Loader, node: yaml.MappingNode) -> None:
    keys = set()
    for key, _ in node.value:
        if key.tag == "tag:yaml.org,2002:merge" or not isinstance(key, yaml.ScalarNode):
            continue
        if key.value in keys:
            line = key.start_mark.line + 1
            raise ValueError(f"the key {key.value!r} is given a second time in line {line}")
        keys.add(key.value)


def _unknown(loader: _Loader, node: yaml.Node) -> Any:
    """The plain value below an unknown tag."""
    if node.tag.startswith(_PYTHON_TAGS):
        return node.tag.partition(":")[2].rpartition(":")[2]
    if isinstance(node, yaml.MappingNode):
        _demand_once(loader, node)
        table = loader.construct_mapping(node, deep=True)
        class_name = node.tag.rpartition(":")[2] if node.tag.startswith(_CLASS) else ""
        return {KIND: class_name, **table} if class_name else table
    if isinstance(node, yaml.SequenceNode):
        items = loader.construct_sequence(node, deep=True)
        return items[0] if node.tag.startswith(_CLASS) and len(items) == 1 else items
    return loader.construct_scalar(node)


_Loader.add_constructor("tag:yaml.org,2002:map", _construct_table)
_Loader.add_constructor(None, _unknown)
