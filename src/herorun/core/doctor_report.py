"""The result of `herorun doctor` for one part of the surroundings. Pure."""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Protocol, runtime_checkable

from herorun.core.lazy_dataclass import dataclass


class Fit(StrEnum):
    OK = "ok"
    FAILED = "failed"  # a definite refusal, or not what a run needs
    UNKNOWN = "unknown"  # it could not be checked: neither ok nor failed
    SKIPPED = "skipped"  # cannot be checked from here; what could be read is in order


EXIT_CODES: Mapping[Fit, int] = {Fit.OK: 0, Fit.FAILED: 1, Fit.UNKNOWN: 3, Fit.SKIPPED: 0}


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
class ExaminesItself(Protocol):
    """An adapter that examines its surroundings, and not only its answers. It changes nothing."""

    def examine(self) -> tuple[DoctorPart, ...]: ...


def verdict(parts: Iterable[DoctorPart]) -> Fit:
    """Failed counts before unknown; skipped parts do not count."""
    fits = {part.status for part in parts}
    return Fit.FAILED if Fit.FAILED in fits else Fit.UNKNOWN if Fit.UNKNOWN in fits else Fit.OK
