"""TOML from outside: its table, or one kind of error, whatever was put there to bring
the reader down.
"""

import tomllib
from typing import Any

from herorun.core.lazy_regex import lazy_regex

MAX_DEPTH = 64  # parts of one dotted key: tomllib takes gigabytes for one of 20,000 (40 kB)
BYTE_ORDER_MARK = "\ufeff"  # Notepad and PowerShell begin a file with it; tomllib refuses it
# A part of a key, a dot between two, or one other character; each line is read once.
_TOKEN = lazy_regex(r"""([\w-]+|"(?:[^"\\]++|\\.)*"?|'[^']*'?)|([ \t]*\.[ \t]*)|.""")


def parse_toml(text: str) -> dict[str, Any]:
    """The table; a `TOMLDecodeError`, which is a ValueError, for what is no TOML, is nested too
    deeply, or holds a number of thousands of digits.

    >>> parse_toml("a" + ".a" * 20_000 + " = 1")
    Traceback (most recent call last):
    tomllib.TOMLDecodeError: it is nested too deeply
    """
    if any(line.count(".") >= MAX_DEPTH and _is_too_deep(line) for line in text.splitlines()):
        raise tomllib.TOMLDecodeError("it is nested too deeply")
    try:
        return tomllib.loads(text.removeprefix(BYTE_ORDER_MARK))
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise tomllib.TOMLDecodeError("it is nested too deeply") from None
    except ValueError as error:  # of Python's own limit for the digits of a number
        raise tomllib.TOMLDecodeError(str(error).partition(";")[0]) from None


def _is_too_deep(line: str) -> bool:
    """Whether so many parts of a key follow each other, with a dot between each two."""
    parts, after_dot = 0, False
    for token in _TOKEN.finditer(line):
        if token[1]:
            parts = parts + 1 if after_dot else 1
        elif not token[2]:
            parts = 0
        after_dot = bool(token[2])
        if parts > MAX_DEPTH:
            return True
    return False
