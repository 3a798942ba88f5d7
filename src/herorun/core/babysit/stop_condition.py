"""Where monitoring stops: `--until` with a time, a duration or a step. Pure."""

from datetime import datetime

from herorun.core.errors import WrongUse
from herorun.core.lazy_dataclass import dataclass
from herorun.core.time_options import parse_moment


@dataclass(frozen=True)
class StopCondition:
    """When monitoring ends; with both None it continues to the run's own end."""

    step: int | None = None
    time: datetime | None = None

    def is_reached(self, step: int | None, now: datetime) -> bool:
        at_step = self.step is not None and step is not None and step >= self.step
        return at_step or (self.time is not None and now >= self.time)

    def __str__(self) -> str:
        if self.step is not None:
            return f"step={self.step}"
        return f"time={self.time:%Y-%m-%dT%H:%M:%SZ}" if self.time else ""


def parse_until(text: str, now: datetime) -> StopCondition:
    """Parses `step=N`, or `time=` with a time or a duration."""
    name, _, value = text.partition("=")
    if name == "step" and value.isascii() and value.isdigit():
        return StopCondition(step=int(value))
    if name == "time" and value:
        return StopCondition(time=parse_moment(value, now))
    raise WrongUse(
        f"--until {text!r} is neither step=N nor time=T, such as time=6h or "
        "time=2026-12-01T12:00:00Z."
    )
