"""Shared by all evidence: no evidence, a value with its source, the clock, the gaps.

An evidence type is a key: a gate holds for each type its value, `Nothing` (the query succeeded, and
there is none yet) or `Unavailable` (the query failed). Steps count completed updates; times are
aware and in UTC.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Generic, TypeAlias, TypeVar

from herorun.core.lazy_dataclass import dataclass

T = TypeVar("T")
Evidence: TypeAlias = Mapping[Any, Any]  # evidence type -> value, Nothing or Unavailable


@dataclass(frozen=True)
class Unavailable:
    """We tried to read this evidence and could not."""

    why: str
    root: str = ""  # what everything is blind to for the same reason, as a key: `remote origin`


@dataclass(frozen=True)
class Nothing:
    """The query succeeded, and there is none yet."""

    why: str = ""


@dataclass(frozen=True)
class Sourced(Generic[T]):
    """A value and how we came by it.

    >>> print(Sourced(5155, "trainer.num_train_steps", inferred=True))
    5155 (inferred from trainer.num_train_steps)
    """

    value: T
    source: str
    inferred: bool = False

    def __str__(self) -> str:
        how = f"inferred from {self.source}" if self.inferred else self.source
        return f"{self.value} ({how})" if how else str(self.value)


@dataclass(frozen=True)
class Now:
    at: datetime
    boot: str = ""  # which start of this machine; empty: it does not say
    uptime: float | None = None  # seconds since that start, however the clock was set


@dataclass(frozen=True)
class Gaps:
    """Which evidence we failed to read this time, as `type: why`."""

    gaps: tuple[str, ...] = ()
    asked: int = 0  # how many evidence types were read in all
