"""How every printed page is put together."""

import dataclasses
import inspect
import re
from collections.abc import Iterable
from typing import Any

_COMMENT = re.compile(r"^    (\w+): [^#\n]*?(?:\(\n?|)\s*# (.*)$", re.MULTILINE)


def page(title: str, source: str, parts: Iterable[str]) -> str:
    note = f"<!-- Printed by docs/generate.py from {source}: change that, then `make docs`. -->"
    return "\n\n".join([f"# {title}", note, *(part.strip() for part in parts)]) + "\n"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(
        "| " + " | ".join(show_text(cell).replace("|", "\\|") for cell in line) + " |"
        for line in lines
    )


def show_text(text: str) -> str:
    """Text whose `<` is no HTML; what stands between backticks is shown as it is."""
    parts = text.split("`")
    return "`".join(part if at % 2 else part.replace("<", "&lt;") for at, part in enumerate(parts))


def comments(kind: Any) -> dict[str, str]:
    """What stands behind the fields of a dataclass."""
    has_fields = isinstance(kind, type) and dataclasses.is_dataclass(kind)
    return dict(_COMMENT.findall(inspect.getsource(kind))) if has_fields else {}


def sentence(words: str) -> str:
    """A comment as prose, for those who do not speak Python."""
    words = re.sub(r"\bNone\b", "null", words)
    return words[:1].upper() + words[1:].rstrip(".") + "." if words else ""
