"""OmegaConf's `${a.b}`, as Hydra leaves it in `.hydra/config.yaml`, replaced by what it refers to.

Only references to keys are followed. `${now:...}`, `${oc.env:X}` and every other resolver stay as
text, and so do relative references and those to a key that is not there.
"""

import re
from collections.abc import Mapping
from typing import Any

from herorun.core.lazy_regex import lazy_regex

_REFERENCE = lazy_regex(r"\$\{\s*([A-Za-z_][\w-]*(?:\.[\w-]+|\[\d+\])*)\s*\}")
_MISSING = object()


def resolve_references(config: Any) -> Any:
    """The same config with each plain reference replaced; one that leads back to itself stays as
    text.
    """
    return _resolve_value(config, config, ())


def _resolve_value(value: Any, root: Any, through: tuple[str, ...]) -> Any:
    if isinstance(value, Mapping):
        return {key: _resolve_value(item, root, through) for key, item in value.items()}
    if isinstance(value, list):
        return [_resolve_value(item, root, through) for item in value]
    if not isinstance(value, str) or "${" not in value:
        return value
    reference = _REFERENCE.fullmatch(value)
    if reference:
        target = _follow_reference(reference[1], root, through)
        return value if target is _MISSING else target
    return _REFERENCE.sub(lambda part: _insert_value(part, root, through), value)


def _follow_reference(path: str, root: Any, through: tuple[str, ...]) -> Any:
    target = _MISSING if path in through else _at(root, path)
    return target if target is _MISSING else _resolve_value(target, root, (*through, path))


def _insert_value(part: re.Match[str], root: Any, through: tuple[str, ...]) -> str:
    """A value within a text; tables and lists are none that a text could hold."""
    target = _follow_reference(part[1], root, through)
    return part[0] if target is _MISSING or isinstance(target, (Mapping, list)) else str(target)


def _at(root: Any, path: str) -> Any:
    value = root
    for key in path.replace("[", ".").replace("]", "").split("."):
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return _MISSING
    return value
