"""The run's issue as one Markdown file, `issue.md` in the run's private folder: where no GitHub is
configured.

Every entry carries a hidden marker with its key; an entry in the file was posted, and nothing else
records it.
"""

import contextlib
import os
from collections.abc import Iterator
from errno import ENOENT
from pathlib import Path

from herorun.core.durations import format_span
from herorun.core.errors import WrongUse
from herorun.core.ports import AdapterOptions, Comments, IssueTracker, Place, Post
from herorun.notifiers._markdown import (
    anchor,
    comment_of,
    comments_in,
    format_marker,
    harmless,
    keys_in,
    line_of,
    plain_key,
)
from herorun.system.files import take_lock, write_atomic

REACHES_NOBODY = True  # a file, which notifies nobody
LOCK_WAIT = 10.0  # seconds


class Options(AdapterOptions):
    pass


def connect(options: Options, place: Place) -> IssueTracker:
    return LocalIssue(Path(place.state) / "issue.md")


class LocalIssue:
    """See `core.ports.IssueTracker`. A reference is the file's path, for a comment with `#` and its
    anchor.
    """

    of_this_clone = True  # each clone has its own page

    def __init__(self, page: Path) -> None:
        self._page = page

    def open(self, post: Post, labels: tuple[str, ...]) -> str:
        from herorun.core.markdown import one_line

        with self._lock():
            if self._text() is None:
                labels_line = (
                    f"Labels: {', '.join(one_line(label) for label in labels)}\n\n"
                    if labels
                    else ""
                )
                body = f"{harmless(post.body).strip()}\n\n" if post.body.strip() else ""
                self._write(
                    f"# {line_of(post.title)}\n\n{labels_line}{body}{format_marker(post.key)}\n"
                )
        return str(self._page)

    def post(self, post: Post) -> str:
        with self._lock():
            text = self._text()
            if text is None:
                raise FileNotFoundError(
                    ENOENT, "the run has no issue yet, `herorun init` opens it", str(self._page)
                )
            keys = keys_in(text)
            if plain_key(post.key) not in keys:
                self._write(
                    f"{text.rstrip()}\n\n---\n\n{comment_of(post)}\n\n{format_marker(post.key)}\n"
                )
            return self._reference(post.key, keys)

    def edit(self, post: Post) -> str:
        with self._lock():
            text, mark = self._text() or "", format_marker(post.key)
            before, mark_there, after = text.partition(mark)
            if mark_there and keys_in(before):  # the page's own text stays
                end = before.index("\n", before.rindex("<!-- herorun key="))
                self._write(f"{before[:end]}\n\n---\n\n{comment_of(post)}\n\n{mark}{after}")
                return self._reference(post.key, keys_in(text))
        return self.post(post)

    def find(self, key: str) -> str | None:
        keys = keys_in(self._text() or "")
        return self._reference(key, keys) if plain_key(key) in keys else None

    def comments(self, key: str, most: int) -> Comments:
        text = self._text()
        if text is None:
            raise FileNotFoundError(ENOENT, "the page is not on this machine", str(self._page))
        bodies = comments_in(text)
        return Comments(tuple(bodies[:most]), len(bodies) > most)

    def _reference(self, key: str, keys: list[str]) -> str:
        """The page, for the key of the issue itself, which comes first; otherwise the anchor on
        it.
        """
        return str(self._page) if keys[:1] == [plain_key(key)] else f"{self._page}#{anchor(key)}"

    def _text(self) -> str | None:
        """The page; None before it is opened. What people wrote into it is kept, whatever its
        encoding.
        """
        try:
            return self._page.read_bytes().decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return None

    def _write(self, text: str) -> None:
        write_atomic(self._page, text.encode("utf-8", "surrogateescape"))

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        try:
            lock = take_lock(self._page.with_name(".issue.lock"), LOCK_WAIT, "another herorun")
        except WrongUse:
            raise TimeoutError(
                f"{self._page} stayed locked by another process for {format_span(LOCK_WAIT)}"
            ) from None
        try:
            yield
        finally:
            os.close(lock)
