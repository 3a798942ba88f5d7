"""When a run wrote checkpoints that nobody should go on from, folded from what the babysitter decided.

From the last decision that found it healthy, because the alert says only when it was seen, until the next launch.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from herorun.core.alert import Alert, AlertId, State
from herorun.core.event import Decided
from herorun.core.evidence import Taint

# An alert of these says that the weights, or what was loaded into them, are not to be trusted. Others, a spike or
# a stall, leave the checkpoint whole.
TAINTING = frozenset({"not-finite", "resume-mismatch"})
_STEP = re.compile(r"~([0-9]+)/")  # of `Decided.progress`


@dataclass(frozen=True)
class Health:
    """`at` and `step` are of the last healthy decision, or of the launch; `open` are alerts that still fire."""

    at: datetime | None = None
    step: int = 0
    open: Mapping[AlertId, Taint] = field(default_factory=dict)
    closed: tuple[Taint, ...] = ()

    @property
    def taints(self) -> tuple[Taint, ...]:
        return (*self.closed, *self.open.values())


def decided(health: Health, event: Decided) -> Health:
    """One decision more. A monitor that could not look everywhere found nothing healthy."""
    alerts = [alert for alert in event.alerts if alert.check in TAINTING]
    # While one is there the last healthy moment stands still, so what began stays as it began.
    still = {a.id: _began(health, a) for a in alerts if a.firing}
    if event.monitor != "fresh" or any(alert.state is not State.RESOLVED for alert in alerts):
        return replace(health, open=still)
    found = _STEP.match(event.progress)
    return replace(health, at=event.at, step=int(found[1]) if found else health.step, open=still)


def launched(health: Health, at: datetime, step: int) -> Health:
    """The next instance begins at a step that was chosen: what still fired ends as a taint for good."""
    ended = (replace(taint, until=at) for taint in health.open.values())
    return Health(at, step, {}, (*health.closed, *ended))


def _began(health: Health, alert: Alert) -> Taint:
    return Taint(alert.check, health.at or alert.since, health.step, None, alert.instance)
