"""Masks secrets and leaves the rest readable. Everything recorded, posted or printed passes through
here.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from herorun.core.lazy_regex import lazy_regex
from herorun.core.redaction.encodings import MAX_DEPTH, mask_coded, read_colours, read_percent
from herorun.core.redaction.key_names import (
    is_pass_number,
    is_secret,
    mask_named,
    names_one,
    secrets_by_name,
)
from herorun.core.redaction.locations import mask_places, secrets_by_location
from herorun.core.redaction.patterns import has_shape, mask_shapes, mask_wrapped

MASK = "[scrubbed]"
_HIDES_NOTHING = frozenset({bool, float, type(None)})
_SHORT = 1000  # characters: the names and sentences that each tick says again, and no log
# Each tick has some twenty new ones. A time holds no secret, and a digest only an encoded one.
_TIME = lazy_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{6})?Z")
_DIGEST = lazy_regex(r"sha256:[0-9a-f]{64}")


def scrub(text: str) -> str:
    """The text with everything that looks like a secret masked. Digests, SHAs and paths stay."""
    return _scrub_again(text) if len(text) <= _SHORT else _scrub(text, 0)


@lru_cache(maxsize=8192)
def _scrub_again(text: str) -> str:
    if _TIME.fullmatch(text):
        return text
    if _DIGEST.fullmatch(text):
        return mask_coded(text, MASK, lambda part: _scrub(part, 1))
    return _scrub(text, 0)


def _scrub(text: str, depth: int) -> str:
    if depth < MAX_DEPTH:
        text = read_colours(text, lambda part: _scrub(part, depth + 1))
        text = read_percent(text, lambda part: _scrub(part, depth + 1))
        text = mask_coded(text, MASK, lambda part: _scrub(part, depth + 1))
    text = mask_wrapped(text, MASK)
    text = mask_shapes(text, MASK)
    text = mask_places(text, MASK)
    return mask_named(text, MASK)


def has_known_shape(text: str) -> bool:
    """Whether something in it is a secret by its own shape, whatever it is called."""
    return has_shape(text)


def scrub_argv(argv: tuple[str, ...]) -> tuple[str, ...]:
    """A command line with the values of secret-looking flags masked, `--token value` included."""
    command = " ".join(argv)
    values = (*secrets_by_location(command), *secrets_by_name(command))
    secrets = {word for value in values for word in (value, *value.split()) if len(word) > 1} - {
        MASK
    }
    out: list[str] = []
    flag = ""
    for part in argv:
        hide = bool(flag) and not part.startswith("-") and is_secret(flag, part)
        out.append(MASK if hide or part in secrets else _scrubbed_word(part, secrets))
        flag = part if part.startswith("-") and "=" not in part else ""
    return tuple(out)


def _scrubbed_word(part: str, secrets: set[str]) -> str:
    """Scrubs a word by itself, or, if that shows nothing, by its context: `-u ada:secret`."""
    clean = scrub(part)
    if clean != part:
        return clean
    matches = [
        value for value in secrets if part.endswith(value) or (len(value) > 7 and value in part)
    ]
    return part.replace(max(matches, key=len), MASK) if matches else part


def scrub_tree(value: Any, name: str = "") -> Any:
    """The same for every text in a JSON-able value; texts under secret-looking keys are masked
    whole.
    """
    kind = type(value)
    if kind in _HIDES_NOTHING or (kind is int and not name):
        return value
    if kind is dict:  # as most of what a tick keeps
        return _scrubbed_mapping(value)
    match value:
        case str():
            return MASK if name and is_secret(name, value) else scrub(value)
        case int() if name and not isinstance(value, bool):
            return MASK if is_pass_number(name, value) else value
        case Mapping():
            return _scrubbed_mapping(value)
        case list() | tuple() if not name and _is_argv(value):
            return list(scrub_argv(tuple(value)))
        case list() | tuple():
            return [
                item if type(item) in _HIDES_NOTHING else scrub_tree(item, name) for item in value
            ]
    return value


def _scrubbed_mapping(value: Mapping[Any, Any]) -> dict[Any, Any]:
    pair = _name_of_pair(value) if "value" in value else ""
    tree: dict[Any, Any] = {}
    for key, item in value.items():
        clean, secret = _scrubbed_key(key)
        kind = type(item)
        if kind is str and not secret and not (pair and key == "value"):
            item = scrub(item)  # without a call for each of some hundred texts
        elif kind not in _HIDES_NOTHING:
            item = scrub_tree(item, pair if key == "value" and pair else secret)
        tree[clean] = item
    return tree


def _is_argv(value: list[Any] | tuple[Any, ...]) -> bool:
    return all(isinstance(part, str) for part in value) and any(
        part.startswith("-") for part in value
    )


def _name_of_pair(value: Mapping[Any, Any]) -> str:
    """The name in `{"name": "HF_TOKEN", "value": "..."}`, as schedulers list an environment."""
    name = value.get("name")
    return _secret_key(name) if isinstance(name, str) else ""


@lru_cache(maxsize=4096, typed=True)
def _scrubbed_key(key: Any) -> tuple[Any, str]:
    """The key as it is shown, and its `_secret_key`."""
    return scrub(key) if isinstance(key, str) else key, _secret_key(str(key))


@lru_cache(maxsize=4096)
def _secret_key(key: str) -> str:
    """The key, if it names a secret. The contract's own `secrets` are names of variables, an
    action's `key` is public.
    """
    return key if names_one(key) and key.lower() not in ("secrets", "key") else ""
