"""Hours of the day during which information waits."""

from datetime import UTC, datetime, time

from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex

_HOURS = lazy_regex(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")


@dataclass(frozen=True)
class QuietHours:
    """From one time of day to another, in UTC; over midnight where the end is earlier."""

    since: time
    until: time

    def covers(self, at: datetime) -> bool:
        """Whether a moment lies in them."""
        now = at.astimezone(UTC).time()
        if self.since <= self.until:
            return self.since <= now < self.until
        return now >= self.since or now < self.until


def quiet_hours(text: str) -> QuietHours:
    """
    >>> quiet_hours("22:00-06:30").until
    datetime.time(6, 30)
    """
    match = _HOURS.fullmatch(text)
    if match is None or text[:5] == text[6:]:
        raise ValueError('is no span of hours in UTC: write it like "21:00-05:30"')
    first, second, third, fourth = (int(part) for part in match.groups())
    return QuietHours(time(first, second), time(third, fourth))
