"""The journal's vocabulary: one event, one line."""

from collections.abc import Mapping
from datetime import datetime
from typing import ClassVar, TypeAlias

from herorun.core.event.launch import Adopted, Amended, CheckedIn, Initialised, Launched, Launching
from herorun.core.event.people import HandedOff, Leased, Noted, Ordered, Sealed, Word
from herorun.core.event.tick import Decided, Done, Failed, Intended, Observed, Replayed
from herorun.core.lazy_dataclass import dataclass

__all__ = [
    "KINDS",
    "Adopted",
    "Amended",
    "CheckedIn",
    "Decided",
    "Done",
    "Event",
    "Failed",
    "HandedOff",
    "Initialised",
    "Intended",
    "Launched",
    "Launching",
    "Leased",
    "Newer",
    "Noted",
    "Observed",
    "Ordered",
    "Replayed",
    "Sealed",
    "Word",
]


@dataclass(frozen=True)
class Newer:
    """A line that a newer herorun wrote: kept for the chain, and not understood."""

    kind: ClassVar[str] = "Newer"
    at: datetime  # in 1970 where the line has no time that we can read
    version: int


Event: TypeAlias = (
    Initialised
    | Launching
    | Launched
    | Amended
    | CheckedIn
    | Observed
    | Decided
    | Intended
    | Done
    | Failed
    | HandedOff
    | Leased
    | Noted
    | Ordered
    | Replayed
    | Sealed
    | Newer
)

# What is written and read; `Newer` is neither.
KINDS: Mapping[str, type[Event]] = {
    kind.kind: kind
    for kind in (
        Initialised,
        Launching,
        Launched,
        Amended,
        CheckedIn,
        Observed,
        Decided,
        Intended,
        Done,
        Failed,
        HandedOff,
        Leased,
        Noted,
        Ordered,
        Replayed,
        Sealed,
    )
}
