"""Trackers: the rows that a run logs, and the tracker's own facts about the run."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY
from datetime import datetime
from typing import Protocol

from herorun.core.evidence import TrackerAlert, TrackerIdentity
from herorun.core.lazy_dataclass import dataclass
from herorun.core.plan import TrackerRun


@dataclass(frozen=True)
class Row:
    """One logged row. `step` is as logged; `values` hold numbers, non-finite ones included."""

    step: int
    values: Mapping[str, float]
    at: datetime | None = None  # None where the row has no zoned time
    attempt: str = ""  # the execution that wrote it, if the source has it


@dataclass(frozen=True)
class Rows:
    """The rows since a cursor, and the cursor after them."""

    rows: Sequence[Row]
    cursor: str
    _: KW_ONLY
    changed_at: datetime | None = None  # when the source last changed, by its host's clock
    restarted: bool = False  # the source was replaced or shortened: the rows begin again
    problems: tuple[str, ...] = ()  # lines that could not be read, by place
    undated: bool = False  # the time of the newest of them is unknown
    at_end: bool = False  # nothing was left; rows written since then are for the next tick


class Identities(Protocol):
    """A tracker that knows its runs by id. One that does not has no such method, and is asked
    nothing.
    """

    def identify(self) -> TrackerIdentity:
        """The run under the contract's id as it is now, never from a cache. Unreachable is a state,
        not an error.
        """


class Alerts(Protocol):
    """A tracker in which the trainer itself raises alerts. One that does not has no such method."""

    def alerts(self, since: int = 0) -> tuple[TrackerAlert, ...]:
        """The run's alerts after the one of that number, oldest first. A missing source raises
        FileNotFoundError.
        """


@dataclass(frozen=True)
class Mention:
    """A value of `[tracker]` that the job's program names, and the call that it names it in.

    Without a call it is the name of a file that the program writes its rows to.
    """

    key: str  # of `[tracker]`
    value: str
    call: str = ""  # as `wandb.init`
    argument: str = ""
    position: int | None = None  # of the argument, where it may be given without its name


class Mentions(Protocol):
    """A tracker that knows how a program names where it reports. Of one that does not, nothing is
    concluded from the program's text.
    """

    def mentions(self, run: TrackerRun) -> tuple[Mention, ...]:
        """What a program names that reports where the contract states."""


class ClientEnvironment(Protocol):
    """A tracker whose client takes from the job's environment what the trainer leaves open. Of one
    that does not, no variable is judged.
    """

    client_variables: tuple[str, ...]  # the names of all that it takes

    def client_problem(self, name: str, value: str, run: TrackerRun, forks: bool) -> str:
        """Why the run would report elsewhere than the contract says, and what to do; empty where it
        would not. `forks`: the launch forks another run.
        """


class Tracker(Protocol):
    """What a run reports. A missing source raises FileNotFoundError; one that cannot be read,
    OSError.
    """

    def read(self, cursor: str) -> Rows:
        """All rows after the cursor; an empty cursor means from the start."""
