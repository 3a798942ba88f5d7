"""Output for people and programs: one JSON document, or text that is safe on a terminal.

rich is imported only for a terminal.
"""

import json
import os
import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any

from herorun.core.lazy_regex import lazy_regex
from herorun.output.text_width import as_typed, show_line, show_next_step, show_note

if TYPE_CHECKING:
    from herorun.schemas import Document

__all__ = [
    "clean",
    "clean_lines",
    "console",
    "hang",
    "shorten_hashes",
    "show_json",
    "show_json_line",
    "show_line",
    "show_next_step",
    "show_note",
    "show_run_note",
    "show_verdict",
]

documents = 0  # that this process has printed: what goes wrong after one must not print another
lines = 0  # of these, the ones of a stream, whose end may be one more


def show_json(document: "Document") -> None:
    """One document on standard output, and nothing else there."""
    _print(json.dumps(document.as_json(), indent=2, allow_nan=False))


def show_json_line(document: "Document") -> None:
    """One document on one line, for a command that prints many (JSON Lines)."""
    global lines
    text = json.dumps(document.as_json(), allow_nan=False)
    lines += 1
    _print(text)
    sys.stdout.flush()


def _print(text: str) -> None:
    global documents
    documents += 1
    sys.stdout.write(text + "\n")


def show_run_note(slug: str, message: str) -> None:
    """What went wrong with one run among several; its name comes first, unless the message begins
    with it or quotes it: elsewhere, `remote` may be any word.
    """
    at_start = message.startswith((f"{slug} ", f"{slug}:"))
    in_quotes = any(f"{mark}{slug}{mark}" in message for mark in "`'\"")
    head = "" if at_start or in_quotes else f"{clean(slug)}: "
    show_note(head + clean_lines(message))


HASH = lazy_regex(r"(?:\bsha256:)?\b([0-9a-f]{9})[0-9a-f]{23,}\b")
MIN_WIDTH = 20  # columns of text behind a head
INDENT = 4  # columns before text that has no room behind its head
_COMMAND = lazy_regex(r"[^\s`]*`[^`\n]*`\S*")
_BLANK = "\ue000"  # stands for a blank where no line may break
PIPE_WIDTH = 80  # columns of a table in a pipe, as of a terminal of the usual width
_AS_TERMINAL = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")  # read by rich
_LAID_OUT = lazy_regex(
    r"[\x00-\x09\x0b-\x1f\x7f]|[ ](?:\n|\Z)"
)  # what rich does not print as it is


def console() -> Any:
    """A rich console: colours only on a terminal, none with NO_COLOR, no wrapping of paths when
    piped.
    """
    return _Pipe() if is_piped() else _rich_console()


def is_piped() -> bool:
    """Whether standard output is no terminal, and nothing says to treat it as one."""
    return not sys.stdout.isatty() and not any(os.environ.get(name) for name in _AS_TERMINAL)


def piped_width() -> int:
    """The columns of a table in a pipe."""
    stated_width = os.environ.get("COLUMNS", "")
    return int(stated_width) if stated_width.isdecimal() and int(stated_width) else PIPE_WIDTH


class _Pipe:
    """A console in a pipe: it writes plain lines itself, and imports rich for all else."""

    soft_wrap = True

    def print(self, *printed_texts: Any, style: str = "", **layout: Any) -> None:
        text = printed_texts[0] if len(printed_texts) == 1 else "" if not printed_texts else None
        if not isinstance(text, str) or _LAID_OUT.search(text):
            self._console.print(*printed_texts, style=style or None, **layout)
            return
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    @cached_property
    def _console(self) -> Any:
        return _rich_console()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._console, name)


def _rich_console() -> Any:
    from shutil import get_terminal_size

    from rich.console import Console

    plain = not sys.stdout.isatty()
    stated_width = os.environ.get("COLUMNS", "")
    width = PIPE_WIDTH if plain and not stated_width else None
    if stated_width and not stated_width.strip("0"):  # rich takes it literally, and prints nothing
        width = PIPE_WIDTH if plain else get_terminal_size().columns
    return Console(soft_wrap=plain, width=width, highlight=False, markup=False, emoji=False)


def hang(out: Any, head: str, text: str, style: str = "", head_style: str = "") -> None:
    """`head`, and behind it `text`, whose further lines begin below its first: no line is lost.

    Without a terminal, as in a pipe, it stays one line.
    """
    text = as_typed(text)
    if isinstance(out, _Pipe):
        out.print(head + text)
        return
    from rich.text import Text

    first, hanging = Text(head, head_style), " " * (len(head) or 2)
    room = out.width - len(hanging)
    if out.soft_wrap:
        out.print(Text.assemble(first, Text(text, style)))
        return
    if room < MIN_WIDTH:  # a long name in the head
        out.print(Text(head.rstrip(), head_style))
        hanging, room = " " * INDENT, out.width - INDENT
        first = Text(hanging)
    unbroken = _COMMAND.sub(lambda match: _unbroken(match[0], room), text)
    for line in Text(unbroken, style).wrap(out, room, overflow="fold") or [Text()]:
        line.rstrip()
        line.plain = line.plain.replace(_BLANK, " ")
        out.print(Text.assemble(first, line))
        first = Text(hanging)


def _unbroken(command: str, room: int) -> str:
    """A command that fits into one line, as one word: a person copies it whole."""
    return command.replace(" ", _BLANK) if len(command) <= room else command


def shorten_hashes(text: str) -> str:
    """Each hash cut to nine digits, unless --verbose wants it whole.

    >>> shorten_hashes("sha256:" + 32 * "ab"), shorten_hashes("step-100000")
    ('ababababa', 'step-100000')
    """
    from herorun.system import progress

    return text if progress.verbose else HASH.sub(r"\1", text)


def show_verdict(out: Any, verdict: str, message: str = "", title: str = "") -> None:
    """`title` stands in place of a clear verdict that is not good news."""
    colour = {"clear": "bold green", "blocked": "bold red", "unknown": "bold yellow"}[verdict]
    if title and verdict == "clear":
        verdict, colour = title, "bold yellow"
    hang(out, f"{verdict.upper()}{': ' if message else ''}", message, colour, colour)


def clean_page(text: str) -> str:
    """Lines from outside, harmless on a terminal: a record's page is what anybody pushed.

    The zero-width space stays, which we write ourselves so that a name mentions nobody.
    """
    return "".join(c if c.isprintable() or c in "\n\t\u200b" else "�" for c in text)


def clean_lines(text: str) -> str:
    """The same of a list of faults: each keeps its line, indented so that it is taken for no other
    run's.
    """
    first, *others = map(clean, text.split("\n"))
    return "\n".join([first, *(f"  {line.lstrip()}" for line in others)])


def clean(text: str) -> str:
    """Text from outside, harmless on a terminal: one line."""
    from herorun.core.redaction.scrub import scrub  # a page of our own needs none of its patterns

    one_line = scrub(text).replace(":\n ", ":").replace("\n ", ";")  # a list of faults
    # without our own zero-width spaces, in titles of an issue: a name is copied from here
    return "".join(c if c.isprintable() else "�" for c in one_line.replace("\u200b", ""))
