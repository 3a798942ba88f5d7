"""The result of `herorun doctor` for one part of the surroundings. Pure."""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Protocol, runtime_checkable

from herorun.core.lazy_dataclass import dataclass


class Fit(StrEnum):
    WORKS = "works"
    BROKEN = "broken"  # it was looked at, and does not do
    UNSEEN = "unseen"  # it could not be looked at: neither well nor ill
    # what else there is speaks for it, and what would tell is not on this machine
    UNCHECKED = "unchecked"


EXIT_CODES: Mapping[Fit, int] = {Fit.WORKS: 0, Fit.BROKEN: 1, Fit.UNSEEN: 3, Fit.UNCHECKED: 0}


@dataclass(frozen=True)
class DoctorPart:
    """One part: its group and name, its state, what was seen, and how to fix it."""

    group: str
    name: str
    status: Fit
    message: str
    fix: str = ""


Probe = Callable[[], Iterable[DoctorPart]]


@runtime_checkable
class Examined(Protocol):
    """An adapter that can say more of its own surroundings than that it answers. It only looks."""

    def examine(self) -> tuple[DoctorPart, ...]: ...


def verdict(parts: Iterable[DoctorPart]) -> Fit:
    """Something broken counts before something unseen; what is left unchecked does not count."""
    fits = {part.status for part in parts}
    return Fit.BROKEN if Fit.BROKEN in fits else Fit.UNSEEN if Fit.UNSEEN in fits else Fit.WORKS
