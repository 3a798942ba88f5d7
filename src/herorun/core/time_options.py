"""Parses the times and durations that people type as options. Pure."""

from datetime import UTC, datetime, timedelta

from herorun.core.contract import parse_duration
from herorun.core.errors import WrongUse
from herorun.core.lazy_pydantic.scalars import MAX_TIME, MIN_TIME


def parse_moment(text: str, now: datetime) -> datetime:
    """A time with its zone (`2026-12-01T12:00:00Z`) or a duration from now (`2h`); it must lie
    ahead.
    """
    moment = _storable(_parse_clock_time(text.strip(), now), text)
    if moment <= now:
        raise WrongUse(f"{text} is in the past: give a future time, or a duration such as 2h.")
    return moment.astimezone(UTC)


def parse_since(text: str, now: datetime) -> datetime:
    """The same, looking back: a time that is over, or a duration before now."""
    try:
        span = parse_duration(text.strip())
        moment = now - span if isinstance(span, timedelta) else now
    except (ValueError, OverflowError):
        moment = _parse_clock_time(text.strip(), now)
    moment = _storable(moment, text)
    if moment >= now:
        raise WrongUse(f"{text} is in the future: give a past time, or a duration such as 24h.")
    return moment.astimezone(UTC)


def _storable(moment: datetime, text: str) -> datetime:
    """A record holds no other times: they overflow where a zone is added."""
    if not MIN_TIME <= moment <= MAX_TIME:
        raise WrongUse(f"{text} is not between the years {MIN_TIME.year} and {MAX_TIME.year}.")
    return moment


def seconds_of(text: str, option: str) -> float:
    """A duration that an option was given, in seconds."""
    try:
        span = parse_duration(text)
        assert isinstance(span, timedelta)
        return span.total_seconds()
    except ValueError as error:
        raise WrongUse(f"{option} {error}.") from None


def _parse_clock_time(text: str, now: datetime) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _moment_after(now, text)
    if moment.tzinfo is None:
        raise WrongUse(f"{text} needs a time zone: write it like 2026-12-01T12:00:00Z.")
    return moment


def _moment_after(now: datetime, text: str) -> datetime:
    try:
        span = parse_duration(text)
        assert isinstance(span, timedelta)
        return now + max(span, timedelta(seconds=1))
    except (ValueError, OverflowError):
        raise WrongUse(
            f"{text!r} is neither a time like 2026-12-01T12:00:00Z nor a duration like 2h or 30m."
        ) from None
