"""When a run wrote checkpoints that no run should resume from, computed from the journalled
decisions.

From the first bad step in the data until the next launch. Where the data names no step, from the
last decision that found the run healthy, because the alert alone says only when it was seen.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from datetime import datetime

from herorun.core.babysit.alert import Alert, AlertId, AlertState
from herorun.core.event import Decided
from herorun.core.evidence import Taint
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex

# An alert of these says that the weights, or what was loaded into them, are not to be trusted.
# Others, a spike or a stall, leave the checkpoint whole.
TAINTING = frozenset({"not-finite", "resume-mismatch"})
# Of these, what evidence can take back: a comparison may turn out well. Values that were not finite
# went into the weights and the optimiser, whatever the rows say later.
REVERSIBLE = frozenset({"resume-mismatch"})
_STEP = lazy_regex(r"~([0-9]+)/")  # of `Decided.progress`


@dataclass(frozen=True)
class Health:
    """`at` and `step` are of the last healthy decision, or of the launch; `open` is what taints the
    current instance.
    """

    at: datetime | None = None
    step: int = 0
    open: Mapping[AlertId, Taint] = field(default_factory=dict)
    closed: tuple[Taint, ...] = ()
    launched: datetime | None = None

    @property
    def taints(self) -> tuple[Taint, ...]:
        return (*self.closed, *self.open.values())


def apply_decision(health: Health, event: Decided) -> Health:
    """One decision more. A monitor that could not look everywhere found nothing healthy."""
    alerts = [alert for alert in event.alerts if alert.check in TAINTING]
    taints = {**health.open, **{a.id: _taint(health, a) for a in alerts if a.firing}}
    resolved_ids = [
        a.id for a in alerts if a.state is AlertState.RESOLVED and a.check in REVERSIBLE
    ]
    still = {key: taint for key, taint in taints.items() if key not in resolved_ids}
    if event.monitor != "fresh" or any(alert.state is not AlertState.RESOLVED for alert in alerts):
        return replace(health, open=still)
    progress = _STEP.match(event.progress)
    return replace(
        health, at=event.at, step=int(progress[1]) if progress else health.step, open=still
    )


def apply_launch(health: Health, at: datetime, step: int) -> Health:
    """The next instance begins at a step that was chosen: what still taints ends as a taint for
    good.
    """
    closed_taints = (replace(taint, until=at) for taint in health.open.values())
    return Health(at, step, {}, (*health.closed, *closed_taints), at)


def set_right(health: Health, before: datetime, at: datetime) -> Health:
    """The same once a clock that was ahead since `before` shows `at` again: what it dated later
    happened in between. A taint is never made shorter by that.
    """

    def earlier(taint: Taint) -> Taint:
        since = before if taint.since > at else taint.since
        return replace(taint, since=since, until=taint.until and min(taint.until, at))

    return replace(
        health,
        at=health.at and min(health.at, at),
        launched=before if health.launched and health.launched > at else health.launched,
        open={key: earlier(taint) for key, taint in health.open.items()},
        closed=tuple(map(earlier, health.closed)),
    )


def _taint(health: Health, alert: Alert) -> Taint:
    """It begins at the earliest step that the alert ever named for this instance."""
    open_taint = health.open.get(alert.id)
    if alert.taints_from is None:
        began = Taint(
            check=alert.check,
            since=health.at or alert.since,
            step=health.step,
            until=None,
            instance=alert.instance,
            subject=alert.subject,
        )
        return open_taint or began
    since, bad = (
        health.launched or alert.since,
        alert.steps[0] if alert.steps else alert.taints_from,
    )
    taint = Taint(
        check=alert.check,
        since=since,
        step=alert.taints_from - 1,
        until=None,
        instance=alert.instance,
        subject=alert.subject,
        bad_step=bad,
    )
    return (
        open_taint
        if open_taint and open_taint.bad_step is not None and open_taint.step <= taint.step
        else taint
    )
