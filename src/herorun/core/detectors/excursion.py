"""A stretch of rows in which a curve is out of bounds: while it lasts, and after its end."""

import math
from dataclasses import field

from herorun.core.evidence import Excursion
from herorun.core.lazy_dataclass import dataclass

MISSES = 1  # rows back in bounds that do not yet end a streak
# closed excursions of one metric and kind that are stored between two ticks: a thousand rows of a
# curve with a leap every few rows have so many
MAX_CLOSED = 64


@dataclass(slots=True, kw_only=True)
class Streak:
    """An excursion under way."""

    first_step: int
    last_step: int
    rows: int = 0
    peak: float = 0.0  # logarithms of the ratio to the expected value
    total: float = 0.0
    expected: float = 1.0
    noise: float = 0.0
    misses: int = 0
    declared: bool = False
    seconds: float | None = None
    least: int = 1  # rows of which a mean is one
    crest: float = -math.inf  # the highest mean so far, as a logarithm
    stood: float = 0.0  # the highest product so far of a mean and the root of its number of rows

    def add(self, step: int, excess: float) -> None:
        """Add a row. The values that checks use only grow, so that the verdict does not depend on
        when a tick reads them.
        """
        self.last_step = step
        self.rows += 1
        self.total += excess
        self.misses = 0
        if abs(excess) > abs(self.peak):
            self.peak = excess
        if self.rows >= self.least:
            mean = self.total / self.rows
            self.crest = max(self.crest, mean)
            self.stood = max(self.stood, abs(mean) * math.sqrt(self.rows))

    def as_excursion(self, kind: str, metric: str, is_open: bool) -> Excursion:
        return Excursion(
            metric=metric,
            first_step=self.first_step,
            last_step=self.last_step,
            rows=self.rows,
            peak=ratio(self.peak),
            expected=self.expected,
            open=is_open,
            kind=kind,
            typical=ratio(self.total / self.rows),
            noise=self.noise,
            declared=self.declared,
            back=is_open and self.misses > 0,
            seconds=self.seconds,
            crest=ratio(self.crest) if self.rows >= self.least else None,
            stood=self.stood if self.rows >= self.least else None,
        )


def ratio(excess: float) -> float:
    return math.inf if excess == math.inf else math.exp(min(max(excess, -700.0), 700.0))


@dataclass(slots=True)
class ExcursionWatch:
    """The streaks of one kind of one metric: the open one, and those that ended since the last
    tick.
    """

    streak: Streak | None = None
    closed: list[Excursion] = field(default_factory=list)

    def extend(
        self,
        step: int,
        excess: float,
        expected_value: float,
        noise: float,
        is_declared: bool = False,
        least: int = 1,
    ) -> Streak:
        """Add a row out of bounds. `least`: the fewest rows of a mean, for a new streak."""
        streak = self.streak
        if streak is None:
            streak = self.streak = Streak(
                first_step=step,
                last_step=step,
                expected=expected_value,
                noise=noise,
                declared=is_declared,
                least=least,
            )
        streak.add(step, excess)
        return streak

    def within(self, kind: str, metric: str, misses: int = MISSES) -> None:
        """One row back in bounds."""
        streak = self.streak
        if streak is not None:
            streak.misses += 1
            if streak.misses > misses:
                self.end(kind, metric)

    def end(self, kind: str, metric: str) -> None:
        if self.streak is not None:
            self.closed = _drop_slightest(
                [*self.closed, self.streak.as_excursion(kind, metric, False)]
            )
            self.streak = None

    def excursions(self, kind: str, metric: str) -> list[Excursion]:
        return [
            *self.closed,
            *([self.streak.as_excursion(kind, metric, True)] if self.streak else []),
        ]


def _drop_slightest(excursions: list[Excursion]) -> list[Excursion]:
    """If there are too many, drop the slightest, never a long one."""
    if len(excursions) > MAX_CLOSED:
        slightest = min(excursions, key=lambda excursion: (excursion.rows, excursion.peak))
        return [excursion for excursion in excursions if excursion is not slightest]
    return excursions
