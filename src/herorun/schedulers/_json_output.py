"""Finds JSON among other lines of a program's output. Pure."""

import re
from typing import Any

from herorun.core.lazy_regex import lazy_regex
from herorun.core.untrusted_json import read_json

_LIST = lazy_regex(r"^\[", re.MULTILINE)


def tables_in(text: str) -> list[dict[str, Any]] | None:
    """The list of tables that begins on its own line and ends the text; None if there is none.

    >>> tables_in("a warning\\n[{}]"), tables_in("[1]"), tables_in("[]")
    ([{}], None, [])
    """
    start = _LIST.search(text)
    try:
        tables = read_json(text[start.start() :]) if start else None
    except ValueError:
        return None
    return (
        tables
        if isinstance(tables, list) and all(isinstance(each, dict) for each in tables)
        else None
    )
