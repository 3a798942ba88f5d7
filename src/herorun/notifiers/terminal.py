"""The terminal as a notifier: a short block on standard error.

A terminal cannot report what it has shown. Only this process knows, so after a restart `find`
returns None, and the same key may be printed again, which is harmless.
"""

import os
import sys
from typing import TextIO

from herorun.core.ports import AdapterOptions, Notifier, Place, Post
from herorun.core.proposed_commands import on_screen
from herorun.core.redaction.scrub import scrub

REACHES_NOBODY = True  # only a person at the terminal
REFERENCE = "standard error"
MAX_LINES = 20
MAX_LINE_LENGTH = 2000
# (state folder, run, key), for the life of the process
_PRINTED_POSTS: set[tuple[str, str, str]] = set()


class Options(AdapterOptions):
    pass


def connect(options: Options, place: Place) -> Notifier:
    return Terminal(place)


class Terminal:
    """See `core.ports.Notifier`."""

    def __init__(self, place: Place) -> None:
        self._run = (place.state, place.slug)

    def post(self, post: Post) -> str:
        post_key = (*self._run, post.key)
        if post_key not in _PRINTED_POSTS:
            _print(block(self._run[1], post))
            _PRINTED_POSTS.add(post_key)
        return REFERENCE

    def find(self, key: str) -> str | None:
        return REFERENCE if (*self._run, key) in _PRINTED_POSTS else None


def block(slug: str, post: Post) -> list[str]:
    """The lines to print: the run and the title, then the body, indented."""
    body = [line for line in visible(scrub(on_screen(post.body))).split("\n") if line.strip()]
    more = [f"... ({len(body) - MAX_LINES} more lines)"] if len(body) > MAX_LINES else []
    title = visible(scrub(on_screen(post.title))).replace("\n", " ")
    return [
        _cut_line(f"{slug}: {title}"),
        *(_cut_line(f"  {line}") for line in (*body[:MAX_LINES], *more)),
    ]


def visible(text: str) -> str:
    """The text with control characters escaped, as `\\x1b`."""
    return "".join(
        c if c in "\n\t" or c.isprintable() else repr(c)[1:-1] for c in text.replace("\r\n", "\n")
    )


def _cut_line(line: str) -> str:
    return line if len(line) <= MAX_LINE_LENGTH else f"{line[: MAX_LINE_LENGTH - 3]}..."


def _print(lines: list[str]) -> None:
    stream = sys.stderr
    if stream is None or stream.closed:  # print() would fall back to standard output
        raise OSError("this process has no standard error to write to")
    if stream.isatty():
        from herorun.system.terminal import columns_of, fit

        lines = [fit(line, columns_of(stream)) for line in lines]
    if _in_colour(stream):
        lines = [f"\x1b[1m{lines[0]}\x1b[0m", *lines[1:]]
    stream.write("\n".join(lines) + "\n")
    stream.flush()


def _in_colour(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
