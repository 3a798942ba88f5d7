"""What the running job reports: its metrics and its receipts."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Excursion:
    """A stretch of rows in which a curve left what was expected of it."""

    metric: str
    first_step: int
    last_step: int
    rows: int
    peak: float  # the largest ratio to the expected value; infinite for a non-finite value
    expected: float
    open: bool  # whether the newest row is still part of it


@dataclass(frozen=True)
class Metrics:
    """What the tracker's rows amount to, folded. `step` counts completed updates of the current instance."""

    step: int
    rows: int
    advanced_at: datetime  # when the step last rose, by the row's own clock or the file's
    first_step: int = 0  # of the current attempt
    high_water: int = 0  # the highest step of any attempt
    attempts: int = 1
    last: Mapping[str, float] | None = None
    spikes: tuple[Excursion, ...] = ()
    non_finite: tuple[Excursion, ...] = ()
    problems: tuple[str, ...] = ()  # lines that could not be read


@dataclass(frozen=True)
class FinalStep:
    """Completed updates at the end of the run, as the plan resolved it; `source` says from where, or why not."""

    value: int | None
    source: str = ""


@dataclass(frozen=True)
class Admitted:
    """What check-in compared, item by item: (item, pass | fail | unknown, message)."""

    items: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class Receipt:
    """What check-in wrote inside the job."""

    instance: str
    attempt: int
    outcome: str  # pass or fail
    items: tuple[tuple[str, str, str], ...] = ()  # (item, outcome, message)
    at: datetime | None = None
    loaded: str | None = None
