"""How far the clocks of two machines may differ: one rule for every comparison of their times."""

from dataclasses import replace
from datetime import datetime, timedelta

from herorun.core.lazy_dataclass import dataclass

# More than any network delay, and less than any limit that is judged by. Beyond it the check
# `clock-skew` speaks.
SKEW = timedelta(seconds=60)


@dataclass(frozen=True)
class ClockJumps:
    """Jumps of the clock that dates the record, found from the times of its lines in order."""

    latest: datetime | None = None
    ahead: tuple[datetime, datetime] | None = None  # the newest leap: the moment before, and after
    behind: datetime | None = None  # the moment before it was set back; None: it was set right

    def advance(self, at: datetime) -> "ClockJumps":
        """The state after one more line."""
        if self.latest is None or self.last_right(at) is not None:
            return ClockJumps(at)
        if at < self.latest - SKEW:
            return replace(self, latest=at, behind=self.behind or self.latest)
        if at <= self.latest + SKEW:
            return replace(self, latest=at)
        if self.behind is not None and at >= self.behind - SKEW:
            return replace(self, latest=at, behind=None)
        return replace(self, latest=at, ahead=(self.latest, at))

    def last_right(self, at: datetime) -> datetime | None:
        """The last correct time before the clock leapt ahead, if `at` shows that it was set back
        since; otherwise None.
        """
        if self.latest is None or self.ahead is None or at >= self.latest - SKEW:
            return None
        before, after = self.ahead
        return before if before - SKEW <= at < after - SKEW else None


def no_later(written_at: datetime | None, seen_at: datetime | None) -> datetime | None:
    """A row is no younger than the source it stands in: one that is stamped in the future would
    hide a hang.
    """
    return min(written_at, seen_at) if written_at and seen_at else written_at or seen_at
