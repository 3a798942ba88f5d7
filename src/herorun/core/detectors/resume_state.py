"""The stored values of the newest rows and of the previous attempt, for comparing a resume."""

from collections.abc import Sequence
from dataclasses import field
from itertools import islice
from typing import NamedTuple

from herorun.core.lazy_dataclass import dataclass

MEMORY_ROWS = 2048  # rows
MAX_ROWS = MEMORY_ROWS + 256  # rows at which the oldest are removed together, which is cheaper


class AttemptStartPoint(NamedTuple):
    """Where a new attempt begins."""

    step: int
    high_water: int
    stride: float  # usual steps between two rows
    is_beyond_gap: bool  # rows are missing between the high water and this step


@dataclass(slots=True, kw_only=True)
class ResumeComparison:
    """The comparison of the newest attempt with the previous one."""

    step: int
    high_water: int
    level: float  # the trend's, at the resume
    # of the logarithms of the last losses before the resume; the trend's level if there are too few
    mean: float
    noise: float
    fall: float | None
    differences: list[float] = field(default_factory=list)
    worst: float = 0.0
    worst_step: int = 0
    worst_new: float = 0.0  # the loss at that step
    first_bad_step: int | None = None
    compared: int = 0
    beyond: int = 0
    total: float = 0.0
    counter_reset: bool = False
    rate_before: float | None = None
    rate_after: float | None = None
    rate_exact: bool = False
    instance: str = ""
    stride: float = 0.0  # usual steps between two rows
    shift: float = 0.0  # the sum of the logarithms of new to old at equal steps
    shifted: int = 0  # rows in that sum
    broken: bool = False  # rows are missing, since or shortly before the restart


@dataclass(slots=True, kw_only=True)
class Lineage:
    """The values that comparisons need."""

    losses: dict[int, float] = field(default_factory=dict)  # of this attempt, by step
    rates: dict[int, float] = field(default_factory=dict)
    # since the epoch, if rows have times
    times: dict[int, float] = field(default_factory=dict)
    old_losses: dict[int, float] = field(default_factory=dict)  # of the attempt before
    old_rates: dict[int, float] = field(default_factory=dict)
    first: float | None = None  # the run's very first loss
    opening: list[float] = field(default_factory=list)  # the first ones
    first_step: int = 0
    comparison: ResumeComparison | None = None


def put_in_order(state: Lineage) -> None:
    """Sort the tables by step: JSON sorts keys as text, `1000` before `999`, but comparisons and
    removals need the newest and the oldest.
    """
    for name in ("losses", "rates", "times", "old_losses", "old_rates"):
        setattr(state, name, dict(sorted(getattr(state, name).items())))


def remember_values(table: dict[int, float], steps: Sequence[int], values: Sequence[float]) -> None:
    """Add many rows; the oldest are removed as if they came one by one."""
    rows, count = zip(steps, values, strict=True), len(steps)
    while count > 0:
        most = MAX_ROWS + 1 - len(table)  # more cannot make the table too long
        table.update(islice(rows, most))
        count -= most
        if len(table) > MAX_ROWS:
            forget_oldest(table)


def forget_oldest(values: dict[int, float]) -> None:
    """Keep the newest."""
    for step in list(islice(values, max(len(values) - MEMORY_ROWS, 0))):
        del values[step]
