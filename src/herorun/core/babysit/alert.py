"""An alert: a problem that a check found, from its first detection to its end."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeAlias

from herorun.core.babysit.alert_key import AlertKey
from herorun.core.canonical_json import timestamp
from herorun.core.decode import CheckName
from herorun.core.lazy_dataclass import dataclass

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
        return AlertKey(self.check, self.subject).name

    @property
    def key(self) -> str:
        """The key of the incident; a new incident of the same alert has another key."""
        return str(AlertKey(self.check, self.subject, timestamp(self.since)))

    @property
    def firing(self) -> bool:
        return self.state is AlertState.FIRING


@dataclass(frozen=True)
class Moment:
    """The engine's own measures at this tick."""

    now: datetime
    cadence: timedelta
    step: int | None = None
    instance: str = ""
    live: bool = False  # its job is known to be live
