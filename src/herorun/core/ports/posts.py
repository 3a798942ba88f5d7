"""Notifiers, and the issue, which is one of them."""

from typing import Protocol, runtime_checkable

from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Post:
    """A message. Its key is what makes it be posted once."""

    key: str
    title: str
    body: str


class Notifier(Protocol):
    """A channel that gets messages. Posting one key twice is one post."""

    def post(self, post: Post) -> str:
        """Post it, and return a reference to the post."""

    def find(self, key: str) -> str | None:
        """The reference of the post with a key; None if all places were read and none has it."""


class Channel(Notifier, Protocol):
    """A notifier besides the issue. Its name is the variable that holds its address, which is
    secret.
    """

    @property
    def name(self) -> str:
        """What people know it by."""

    def problem(self) -> str:
        """Why nothing can be sent by it, found without sending; empty where nothing is known
        against it.
        """


@dataclass(frozen=True)
class SendOnlyNotifier:
    """A notifier that only sends, as a channel: it is called by its kind."""

    name: str
    notifier: Notifier

    def post(self, post: Post) -> str:
        return self.notifier.post(post)

    def find(self, key: str) -> str | None:
        return self.notifier.find(key)

    def problem(self) -> str:
        """What the notifier itself reports, if it can."""
        ask = getattr(self.notifier, "problem", None)
        return str(ask()) if ask else ""


@dataclass(frozen=True)
class Channels:
    """All of a contract's, in its order."""

    all: tuple[Channel, ...] = ()


class IssueTracker(Notifier, Protocol):
    """A notifier with a page of its own for the run."""

    def open(self, post: Post, labels: tuple[str, ...]) -> str:
        """Create the run's issue, or return the one that is there; the reference is a link."""

    def edit(self, post: Post) -> str:
        """Replace what was posted under the key before; post it where nothing was."""


@dataclass(frozen=True)
class Comments:
    """Our comments on the issue, the oldest first. `more`: further ones were not read."""

    bodies: tuple[str, ...]
    more: bool = False


@runtime_checkable
class ReadBack(Protocol):
    """An issue tracker whose comments can be read again. Read-only."""

    def comments(self, key: str, most: int) -> Comments:
        """Our own comments on the issue that was opened under a key, at most so many read; OSError
        where it is not there.
        """
