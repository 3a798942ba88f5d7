"""Messages at the width of the terminal, with commands as the person types them. In a pipe, for
programs, a line stays one line.
"""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import TextIO

HERORUN = "herorun: "  # begins each message on standard error
_NARROWEST = 20  # columns of text behind an indent
# A word, or what stands in backticks: a person copies it whole, so no line break falls inside it.
_WORD = re.compile(r"(?:[^\s`]*`[^`\n]*`)+[^\s`]*|\S+")


_folder = "."  # after -C, as the person typed it; in JSON, commands are as typed in the repository


def be_in(folder: str) -> None:
    """Set the folder at a command's start, because a process may run several commands."""
    global _folder
    _folder = folder


def as_typed(text: str) -> str:
    """A message, whose commands in backticks work where the person typed the present one."""
    if _folder == "." or "`herorun " not in text:
        return text
    from herorun.core.shell_words import in_folder

    return in_folder(text, _folder)


def command_as_typed(command: str) -> str:
    """The same of a command without backticks."""
    if _folder == ".":
        return command
    from herorun.core.shell_words import command_in_folder

    return command_in_folder(command, _folder)


def show_line(text: str) -> None:
    """One message on standard output. Its lines continue with a hanging indent."""
    _write(text, sys.stdout)


def show_note(text: str, command: str = "") -> None:
    """One message on standard error, after the program's name; below it what a person copies, as it
    is.
    """
    _write(HERORUN + text, sys.stderr)
    if command:
        sys.stderr.write(f"{command}\n")
        sys.stderr.flush()


def show_failure(text: str) -> None:
    """What ended the command, on standard error, as it is worded."""
    _write(text, sys.stderr)


def _write(text: str, stream: TextIO) -> None:
    text = as_typed(text)
    stream.write((fit(text, _width(stream)) if stream.isatty() else text) + "\n")
    stream.flush()


def _width(terminal: TextIO) -> int:
    """Its columns, also of standard error where standard output is a file."""
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
    if columns - len(indent) < _NARROWEST:
        indent = "  "
    row = blanks
    for word in _WORD.findall(line):
        if row.strip() and len(row) + 1 + len(word) > columns:
            yield row
            row = indent
        row = f"{row} {word}" if row.strip() else f"{row}{word}"
    yield row
