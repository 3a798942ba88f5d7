"""The run's issue as a folder of Markdown files, one for each message: for a drive that a team
shares.
"""

import hashlib
import os
from pathlib import Path

from herorun.core.markdown import one_line
from herorun.core.ports import AdapterOptions, IssueTracker, Place, Post
from herorun.core.redaction.scrub import scrub
from herorun.system.files import create_atomic, write_atomic

ROBOT = "🤖"


class Options(AdapterOptions):
    pass


def connect(options: Options, place: Place) -> IssueTracker:
    return IssueFolder(Path(place.state) / "issue")


class IssueFolder:
    """See `core.ports.IssueTracker`. A file is named by its post's key, so a key is posted once,
    whatever happens.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, post: Post, labels: tuple[str, ...]) -> str:
        """The first one to open it writes the first page; everybody else gets its path."""
        if self._first() is None:
            label_line = f"Labels: {', '.join(labels)}\n\n" if labels else ""
            self._say(
                f"issue-{_name(post.key)}",
                f"# {_line(post.title)}\n\n{label_line}{_text(post.body)}\n",
            )
        first = self._first()
        assert first is not None
        return first

    def post(self, post: Post) -> str:
        if self._first() is None:
            raise FileNotFoundError(f"{self._folder} holds no issue yet: `herorun init` opens it")
        if self.find(post.key) is None:
            self._say(_name(post.key), _page(post))
        return self.find(post.key) or str(self._folder / _name(post.key))

    def edit(self, post: Post) -> str:
        """Replaces the post with the same key, at its place in the order; a new post if there was
        none.
        """
        path = self._folder / _name(post.key)
        if path.name in self._names():
            said_at = path.stat().st_mtime_ns
            write_atomic(path, _page(post).encode("utf-8", "backslashreplace"))
            os.utime(path, ns=(said_at, said_at))
        return self.post(post)

    def find(self, key: str) -> str | None:
        for name in (_name(key), f"issue-{_name(key)}"):
            if name in self._names():
                return str(self._folder / name)
        return None

    def _say(self, name: str, text: str) -> None:
        try:
            create_atomic(self._folder / name, text.encode("utf-8", "backslashreplace"))
        except FileExistsError:
            if name not in self._names():  # it is the folder itself that is in the way
                raise

    def _first(self) -> str | None:
        pages = sorted(name for name in self._names() if name.startswith("issue-"))
        return str(self._folder / pages[0]) if pages else None

    def _names(self) -> list[str]:
        """An unreadable folder raises: it is not an empty one."""
        try:
            return [path.name for path in self._folder.iterdir()]
        except FileNotFoundError:
            return []


def _page(post: Post) -> str:
    body = _text(post.body).removeprefix(ROBOT).strip()
    return f"{ROBOT} **{_line(post.title)}**\n\n{body}\n"


def _name(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:24] + ".md"


def _line(text: str) -> str:
    return one_line(scrub(text))


def _text(text: str) -> str:
    """Without secrets, and without what would steer a terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in scrub(text)).strip()
