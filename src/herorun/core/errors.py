"""The errors that a person reads: what happened, where, and what to do next."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


class HerorunError(Exception):
    """Something a person can fix: one or two sentences, never shown as a traceback."""

    exit_code = 1

    def __init__(self, message: str = "", *, root: str = "") -> None:
        super().__init__(message)
        # what it follows from, as a key that findings share: `file config.toml`, `remote origin`
        self.root = root


class Blocked(HerorunError):
    """A gate is blocked, or a fault was found."""

    exit_code = 1


class HandedOver(Blocked):
    """Another machine monitors the run now: the previous one no longer acts."""


class WrongUse(HerorunError):
    """A mistake in the command, the contract or the repository."""

    exit_code = 2


class WrongTable(WrongUse):
    """What the adapter of a kind does not take of its table in the contract, or next to an option
    such as `--scheduler`: each fault with the keys that lead to it in the table.
    """

    def __init__(
        self, table: str, kind: str, faults: Sequence[tuple[tuple[str | int, ...], str]]
    ) -> None:
        self.table, self.kind, self.faults = table, kind, tuple(faults)
        text = "; ".join(message for _, message in faults)
        head = table if table.startswith("-") else f"[{table}]"
        text = f"{head} {kind}: {text}" if kind else text
        super().__init__(text if text.endswith(("?", ".")) else f"{text}.")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.table, self.kind, self.faults)


class NewerRecord(WrongUse):
    """A newer herorun has written lines that this one cannot evaluate: it only observes."""


class CouldNotLook(HerorunError):
    """Evidence could not be read: neither yes nor no."""

    exit_code = 3


class EndedBySignal(HerorunError):
    """Another process ended the command."""

    exit_code = 130


@contextmanager
def attach_root(root: str) -> Iterator[None]:
    """Mark each error that is raised inside as one that follows from `root`, unless it says so
    itself.
    """
    try:
        yield
    except HerorunError as error:
        error.root = error.root or root
        raise


def sentence(message: str) -> str:
    """With one mark at its end, whatever it came with.

    >>> sentence("alpha rejects the key"), sentence("Is Slurm there?"), sentence("Try again.")
    ('alpha rejects the key.', 'Is Slurm there?', 'Try again.')
    """
    return message if message.endswith("?") else f"{message.rstrip('.')}."


# What a library or an adapter by somebody else may raise: some end the program by `sys.exit`.
UNFORESEEN = (Exception, SystemExit)


def describe_error(error: BaseException) -> str:
    """What happened and where, for people, without Python's notation."""
    if isinstance(error, HerorunError):
        return str(error)
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}"
    try:
        return f"{type(error).__name__}: {error}"
    except UNFORESEEN:  # its `__str__` may raise too
        return type(error).__name__


DEBUG = "HERORUN_DEBUG"  # the environment variable under which an internal error has a traceback
REPORT = f"Please report it, with the output under {DEBUG}=1."


def describe_internal_error(error: BaseException) -> str:
    """The same, of an error that nobody foresaw."""
    return f"internal error: {describe_error(error)}"
