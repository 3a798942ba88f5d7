"""An alert: a problem that a check found, from its first detection to its end."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeAlias

from herorun.core.canonical_json import timestamp
from herorun.core.decode import CheckName
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex

_KEY = lazy_regex(r"([a-z0-9-]+)(?:\[(.*)\])?(?:@([0-9TZ:.-]+))?")
AlertId: TypeAlias = tuple[str, str]  # check, subject


class AlertState(StrEnum):
    PENDING = "pending"
    FIRING = "firing"
    RESOLVED = "resolved"  # evidence showed that the condition is gone
    ENDED = "ended-unresolved"  # without that: its instance ended, or no check evaluates it


@dataclass(frozen=True, kw_only=True)
class Alert:
    check: CheckName
    subject: str
    since: datetime
    seen: datetime  # when evidence last showed it
    state: AlertState
    message: str
    held: timedelta = timedelta()
    ticks: int = 1
    first_step: int = 0
    instance: str = ""
    steps: tuple[int, int] | None = None  # the steps of the data where it happened, if known
    taints_from: int | None = None  # checkpoints of this step and later ones are not to be trusted
    not_judged: str = ""  # why its check has not evaluated it since `seen`

    @property
    def id(self) -> AlertId:
        return self.check, self.subject

    @property
    def name(self) -> str:
        """As `herorun ack` takes it."""
        return f"{self.check}[{self.subject}]" if self.subject else self.check

    @property
    def key(self) -> str:
        """The key of the incident; a new incident of the same alert has another key."""
        return f"{self.name}@{timestamp(self.since)}"

    @property
    def firing(self) -> bool:
        return self.state is AlertState.FIRING


def describe_alert_key(key: str) -> str:
    """The alert of a key, or of a name without a time, as the subject of a sentence.

    >>> describe_alert_key("loss-spike[loss from step 4]@2026-01-01T11:00:00Z")
    'loss-spike (loss from step 4), open since 2026-01-01 11:00 UTC'
    >>> describe_alert_key("not-finite[loss]"), describe_alert_key("monitor-blind")
    ('not-finite (loss)', 'monitor-blind')
    """
    match = _KEY.fullmatch(key)
    if match is None:
        return key
    check, subject, since = match.groups()
    name = f"{check} ({subject})" if subject else check
    return f"{name}, open since {since[:10]} {since[11:16]} UTC" if since else name


@dataclass(frozen=True)
class Moment:
    """The engine's own measures at this tick."""

    now: datetime
    cadence: timedelta
    step: int | None = None
    instance: str = ""
    live: bool = False  # its job is known to be live
