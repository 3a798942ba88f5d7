"""An alert: a problem that a check found, from its first sight to its end."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeAlias

from herorun.core.canonical_json import timestamp
from herorun.core.decode import CheckName
from herorun.core.lazy_dataclass import dataclass

AlertId: TypeAlias = tuple[str, str]  # check, subject


class AlertState(StrEnum):
    PENDING = "pending"
    FIRING = "firing"
    RESOLVED = "resolved"  # evidence showed that the condition is gone
    ENDED = "ended-unresolved"  # nothing showed that; its instance ended, or no check judges it


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
    steps: tuple[int, int] | None = None  # where in the data it happened, as far as it is known
    taints_from: int | None = None  # checkpoints of this step and later ones are not to be trusted
    not_judged: str = ""  # why its check has said nothing about it since `seen`

    @property
    def id(self) -> AlertId:
        return self.check, self.subject

    @property
    def key(self) -> str:
        """One incident, one key: it begins again when the alert begins again."""
        subject = f"[{self.subject}]" if self.subject else ""
        return f"{self.check}{subject}@{timestamp(self.since)}"

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
    live: bool = False  # its job was seen alive
