"""The interface of a record, on a branch of its own or in one plain file."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from herorun.core.event import Event
from herorun.core.journal import JournalLine, Memory
from herorun.record.model import FoldedMemory, Pushed


class RunRecord(Protocol):
    """What the engine asks of a record. `Record` and the plain `Journal` of a job without a
    contract both answer.
    """

    @property
    def branch(self) -> str:
        """What people call the place where it is written."""

    @property
    def remote(self) -> str | None:
        """Where it is pushed to; None if it is pushed nowhere."""

    @property
    def address(self) -> str:
        """The remote's URL; empty where there is none."""

    @property
    def tip(self) -> str | None:
        """What names the whole record as it stands; None before it is begun."""

    @property
    def pushed_tip(self) -> str | None:
        """The newest tip that is known to be on the remote."""

    @property
    def anchor(self) -> str | None:
        """The newest tip that may be named outside."""

    def memory(self) -> Memory:
        """The journal's present state."""

    def folded_memory(self) -> FoldedMemory:
        """The same, with the place in the journal that it was folded up to."""

    def lines(self) -> Sequence[JournalLine]:
        """Every line, read and checked."""

    def append(self, *events: Event, files: Mapping[str, bytes] | None = None) -> str:
        """Add events durably. Secrets are masked before anything is hashed."""

    def must_understand(self) -> None:
        """`WrongUse` if a newer herorun has written lines: this one must not write then."""

    def push(self) -> Pushed:
        """Bring the remote up to date, where there is one."""
