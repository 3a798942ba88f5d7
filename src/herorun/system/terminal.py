"""The width of a terminal, and text that fits it."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TextIO

HERORUN = "herorun: "  # begins each message on standard error
_MIN_WIDTH = 20  # columns of text behind an indent
# A word, or what stands in backticks: a person copies it whole, so no line break falls inside it.
_WORD = re.compile(r"(?:[^\s`]*`[^`\n]*`)+[^\s`]*|\S+")


def columns_of(terminal: TextIO) -> int:
    """Its width, also of standard error where standard output is a file."""
    from shutil import get_terminal_size  # with its archives: for a terminal alone

    with suppress(OSError):
        return get_terminal_size(
            (os.get_terminal_size(terminal.fileno()).columns or 80, 24)
        ).columns
    return get_terminal_size().columns


def fit(text: str, columns: int) -> str:
    """Each line broken between words, so that it fits; what continues one stands below its text.

    A command in backticks is never broken: where it does not fit, it has a line of its own.

    >>> print(fit("herorun: nothing is here: `herorun init tiny` writes one", 30))
    herorun: nothing is here:
             `herorun init tiny`
             writes one
    """
    return "\n".join(part for line in text.split("\n") for part in _wrap_line(line, columns))


def _wrap_line(line: str, columns: int) -> Iterator[str]:
    if len(line) <= columns:
        yield line
        return
    blanks = line[: len(line) - len(line.lstrip(" "))]
    indent = " " * (len(HERORUN) if line.startswith(HERORUN) else len(blanks) + 2)
    if columns - len(indent) < _MIN_WIDTH:
        indent = "  "
    row = blanks
    for word in _pieces(line, columns - len(indent)):
        if row.strip() and len(row) + 1 + len(word) > columns:
            yield row
            row = indent
        row = f"{row} {word}" if row.strip() else f"{row}{word}"
    yield row


def _pieces(line: str, room: int) -> Iterator[str]:
    """Its words. One that is longer than the room, such as a path, is cut: the terminal itself
    would continue it in the first column. A command and an address stay whole.
    """
    for word in _WORD.findall(line):
        if "`" in word or "://" in word:
            yield word
            continue
        yield from (word[at : at + room] for at in range(0, len(word), room))
