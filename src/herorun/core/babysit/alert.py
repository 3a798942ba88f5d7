"""An alert: a problem that a check found, from its first detection to its end. Its key is formatted
and parsed here only.

In the journal a key is text, `check[subject]@time`; the subject may contain anything, for example a
path or another key. Without the time it names the alert, as `herorun ack` takes it.
"""

import re
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeAlias

from herorun.core.canonical_json import timestamp
from herorun.core.decode import CheckName
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex

_NAME = r"([^\s\[\]@/]+)(?:\[(.*)\])?"
_KEY = lazy_regex(_NAME + r"(?:@([0-9TZ:.-]+))?", re.DOTALL)
_START = lazy_regex(_NAME + r"@([0-9TZ:.-]+)(?:/[^@\]]*)?", re.DOTALL)
AlertId: TypeAlias = tuple[str, str]  # check, subject


@dataclass(frozen=True)
class AlertKey:
    """
    >>> str(AlertKey("loss-spike", "loss from step 4", "2026-01-01T11:00:00Z"))
    'loss-spike[loss from step 4]@2026-01-01T11:00:00Z'
    """

    check: str
    subject: str = ""
    since: str = ""  # as in the journal; a new incident of the same alert begins later

    def __str__(self) -> str:
        return f"{self.name}@{self.since}" if self.since else self.name

    @property
    def name(self) -> str:
        """What all incidents of this alert have in common."""
        return f"{self.check}[{self.subject}]" if self.subject else self.check

    @property
    def description(self) -> str:
        """As the subject of a sentence.

        >>> AlertKey("loss-spike", "loss", "2026-01-01T11:00:00Z").description
        'loss-spike (loss), open since 2026-01-01 11:00 UTC'
        >>> AlertKey("monitor-blind").description
        'monitor-blind'
        """
        since = f", open since {self.since[:10]} {self.since[11:16]} UTC" if self.since else ""
        return f"{self.check} ({self.subject}){since}" if self.subject else f"{self.check}{since}"


def parse_alert_key(text: str) -> AlertKey | None:
    """The parts of a key, or of a name without a time; None for any other text.

    >>> parse_alert_key("wrong-root[/a@b/c]@2026-01-01T00:00:00Z").subject
    '/a@b/c'
    >>> parse_alert_key("relaunch/tiny-1/veto")
    """
    match = _KEY.fullmatch(text)
    return AlertKey(match[1], match[2] or "", match[3] or "") if match else None


def parse_leading_key(text: str) -> AlertKey | None:
    """The alert of a text that is its key, alone or before `/` and an event or a number.

    >>> str(parse_leading_key("crashed[a-1]@2026-01-01T00:00:00Z/resolved"))
    'crashed[a-1]@2026-01-01T00:00:00Z'
    """
    match = _START.fullmatch(text)
    return AlertKey(match[1], match[2] or "", match[3]) if match else None


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
        return AlertKey(self.check, self.subject).name

    @property
    def key(self) -> str:
        """The key of the incident; a new incident of the same alert has another key."""
        return str(AlertKey(self.check, self.subject, timestamp(self.since)))

    @property
    def firing(self) -> bool:
        return self.state is AlertState.FIRING


@dataclass(frozen=True)
class EngineMeasures:
    """The engine's own measures at this tick."""

    now: datetime
    cadence: timedelta
    step: int | None = None
    instance: str = ""
    live: bool = False  # its job is known to be live
