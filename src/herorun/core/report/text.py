"""Text from outside for a page: no secret, and nothing that turns the direction of what follows or
cannot be seen.
"""

from collections.abc import Mapping
from typing import Any

from herorun.core.redaction.scrub import scrub, scrub_tree

_OURS = "\u200b"  # `core.record.render` puts it into what would else be a link or page somebody


def readable(text: str) -> str:
    """The text as it may be shown once it is escaped."""
    return _visible(scrub(text))


def readable_tree(value: Any) -> Any:
    """The same for every text in a JSON-able value."""
    return _visible_tree(scrub_tree(value))


def _visible_tree(value: Any) -> Any:
    match value:
        case str():
            return _visible(value)
        case Mapping():
            return {_visible(str(key)): _visible_tree(item) for key, item in value.items()}
        case list() | tuple():
            return [_visible_tree(item) for item in value]
    return value


def _visible(text: str) -> str:
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text.replace(_OURS, ""))
