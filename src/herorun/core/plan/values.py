"""What the values of a plan are made of."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from herorun.core.durations import format_duration
from herorun.core.finding import count
from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Patch:
    """The identity of an approved dirty tree: the commit that holds it, and what it can be known
    by.
    """

    commit: str
    tree: str
    diff: str  # digest of the canonical binary diff against the plan's commit

    def __str__(self) -> str:
        return f"tree:{self.tree} diff:{self.diff}"


def snapshot_ref(slug: str, tree: str) -> str:
    """Where an approved dirty tree is kept, here and on the remote."""
    return f"refs/herorun/snapshots/{slug}/{tree}"


@dataclass(frozen=True)
class StartPoint:
    """The checkpoint that the trainer must load."""

    path: str
    step: int | None
    kind: str = "full-state"


@dataclass(frozen=True, kw_only=True)
class TrackerRun:
    """The identity under which the run reports."""

    kind: str
    id: str
    name: str
    entity: str | None
    project: str | None
    resume: str
    first_step: int
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Retention:
    layout: str
    permanent_every: int | None  # steps
    temporary_every: float | None  # seconds
    keep: int | None
    milestones: tuple[int, ...] = ()

    def __str__(self) -> str:
        permanent = (
            f"every {count(self.permanent_every, 'step')}"
            if self.permanent_every
            else "the final one only"
        )
        every = timedelta(seconds=self.temporary_every or 0)
        temporary = f"every {format_duration(every)}" if every else "rolling"
        keep = f"keep {self.keep}" if self.keep else "keep the newest"
        return f"permanent {permanent}, temporary {temporary}, {keep}"
