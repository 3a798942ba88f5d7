"""The run's issue as one Markdown file, `issue.md` in the run's private folder: where no GitHub is configured.

Every entry carries a hidden marker with its key; what is in the file was said, and nothing else remembers it.
"""

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator
from errno import ENOENT
from pathlib import Path
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict

from herorun.core.errors import WrongUse
from herorun.core.ports import Place, Post
from herorun.core.render import one_line
from herorun.core.scrub import scrub
from herorun.system.files import hold, write_whole

ROBOT = "🤖"
LOCK_WAIT = 10.0  # seconds
_MARK = re.compile(r"^<!-- herorun key=(\S*) -->", re.MULTILINE)
_FORGED = re.compile(r"<(?=!--\s*herorun\b)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


class Options(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def connect(options: Options, place: Place) -> "LocalIssue":
    return LocalIssue(Path(place.state) / "issue.md")


class LocalIssue:
    """See `core.ports.IssueTracker`. A reference is the file's path, for a comment with `#` and its anchor."""

    def __init__(self, page: Path) -> None:
        self._page = page

    def open(self, post: Post, labels: tuple[str, ...]) -> str:
        with self._lock():
            if self._text() is None:
                named = f"Labels: {', '.join(one_line(label) for label in labels)}\n\n" if labels else ""
                body = f"{_harmless(post.body).strip()}\n\n" if post.body.strip() else ""
                self._write(f"# {_line(post.title)}\n\n{named}{body}{_mark(post.key)}\n")
        return str(self._page)

    def post(self, post: Post) -> str:
        with self._lock():
            text = self._text()
            if text is None:
                raise FileNotFoundError(
                    ENOENT, "the run has no issue yet, `herorun init` opens it", str(self._page)
                )
            keys = _MARK.findall(text)
            if _plain(post.key) not in keys:
                self._write(f"{text.rstrip()}\n\n---\n\n{_comment(post)}\n\n{_mark(post.key)}\n")
            return self._reference(post.key, keys)

    def find(self, key: str) -> str | None:
        keys = _MARK.findall(self._text() or "")
        return self._reference(key, keys) if _plain(key) in keys else None

    def _reference(self, key: str, keys: list[str]) -> str:
        """The page for the key of the issue itself, which comes first; else the place on it."""
        return str(self._page) if keys[:1] == [_plain(key)] else f"{self._page}#{_anchor(key)}"

    def _text(self) -> str | None:
        """The page; None before it is opened. What people wrote into it is kept, whatever its encoding."""
        try:
            return self._page.read_bytes().decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return None

    def _write(self, text: str) -> None:
        write_whole(self._page, text.encode("utf-8", "surrogateescape"))

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        try:
            held = hold(self._page.with_name(".issue.lock"), LOCK_WAIT, "another herorun")
        except WrongUse:
            raise TimeoutError(f"{self._page} stayed locked by another process for {LOCK_WAIT:g} s") from None
        try:
            yield
        finally:
            os.close(held)


def _comment(post: Post) -> str:
    """The body behind the robot; the title in front, unless the body says it itself."""
    body = _harmless(post.body).strip().removeprefix(ROBOT).strip()
    title = _line(post.title)
    return f"{ROBOT} {body}" if title in body else f"{ROBOT} **{title}**\n\n{body}".rstrip()


def _line(text: str) -> str:
    return one_line(scrub(text))


def _harmless(body: str) -> str:
    """Markdown that can neither pass for one of our markers nor hide what comes after it."""
    text = scrub(body).replace("\r\n", "\n").encode("utf-8", "backslashreplace").decode()
    text = _FORGED.sub("&lt;", _CONTROL.sub("\ufffd", text))
    fence = _open_fence(text)
    return f"{text.rstrip()}\n{fence}" if fence else text


def _open_fence(text: str) -> str:
    """The fence of a code block that is not closed, as in an excerpt that was cut; empty if there is none."""
    fence = ""
    for line in text.splitlines():
        found = _FENCE.match(line)
        if found and not fence:
            fence = found[1]
        elif found and found[1].startswith(fence) and not line.strip(fence[0] + " \t"):
            fence = ""
    return fence


def _mark(key: str) -> str:
    return f'<!-- herorun key={_plain(key)} --><a id="{_anchor(key)}"></a>'


def _plain(key: str) -> str:
    """The key without what could end a comment or a line; two keys never look the same."""
    return quote(key, safe=":/@+,=", errors="surrogatepass")


def _anchor(key: str) -> str:
    return hashlib.sha256(_plain(key).encode()).hexdigest()[:12]
