"""What happened to a run, each with the step at which a curve shows it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum

from herorun.core.babysit.alert import Alert, AlertState
from herorun.core.event import Decided, Event, Launched, Launching, Sealed
from herorun.core.journal.launch_intents import plan_value
from herorun.core.lazy_dataclass import dataclass
from herorun.core.record.logbook_entries import change_of


class Kind(StrEnum):
    LAUNCH = "launch"  # an instance begins: a launch, a relaunch or a rollback
    ATTEMPT = "attempt"  # the back end's own restart inside an instance
    CHECKPOINT = "checkpoint"
    ALERT = "alert"
    PHASE = "phase"
    FINAL = "final"
    SEAL = "seal"


@dataclass(frozen=True)
class StepMark:
    """`step` counts completed updates."""

    kind: Kind
    step: int
    title: str
    note: str = ""
    at: datetime | None = None
    last: int | None = None  # the last step of a range; null for one step


@dataclass(frozen=True)
class AlertIncident:
    """An alert that fired, once for all its ticks. `resolved` is None while its end is unknown.

    `superseded`: the next instance was launched meanwhile, so this alert no longer applied.
    """

    alert: Alert
    resolved: datetime | None = None
    superseded: bool = False

    @property
    def steps(self) -> tuple[int, int]:
        """Where it happened, as the data names it; otherwise the step at which it was noticed."""
        return self.alert.steps or (self.alert.first_step, self.alert.first_step)


@dataclass(frozen=True)
class AttemptStart:
    """One attempt, as the rows tell it."""

    number: int
    first: int  # completed updates before its first row
    at: datetime | None


def launches(events: Iterable[Event]) -> list[StepMark]:
    """Where each instance continued from. One with an unknown start stands at 0 and says so."""
    intents: dict[str, Launching] = {}
    marks = []
    for event in events:
        match event:
            case Launching():
                intents.setdefault(event.instance, event)
            case Launched():
                marks.append(_launch(event, intents.get(event.instance)))
    return marks


def _launch(event: Launched, intent: Launching | None) -> StepMark:
    start = plan_value(intent.plan, "start") if intent else None
    step = start.get("step") if isinstance(start, Mapping) else 0
    change = change_of(intent) if intent else "launch"
    where = "" if step is not None else "; the step that it began with is not known"
    return StepMark(
        Kind.LAUNCH,
        step or 0,
        f"{event.instance}: {change}",
        f"{intent.why if intent else ''}{where}",
        event.at,
    )


def restarts(attempts: Sequence[AttemptStart], events: Iterable[Event]) -> list[StepMark]:
    """The attempts that no launch explains: each launch explains the first attempt after it, if the
    times tell.
    """
    open_launches = [event for event in events if isinstance(event, Launched)]
    marks = []
    for attempt in attempts:
        due = [one for one in open_launches if attempt.at is None or one.at <= attempt.at]
        if due:
            open_launches = (
                [one for one in open_launches if one not in due]
                if attempt.at
                else open_launches[1:]
            )
        elif attempt.number > 1:
            marks.append(
                StepMark(Kind.ATTEMPT, attempt.first, f"attempt {attempt.number}", "", attempt.at)
            )
    return marks


def incidents(events: Iterable[Event]) -> list[AlertIncident]:
    """All alerts that ever fired, in the order in which they did."""
    by_key: dict[str, AlertIncident] = {}
    for event in events:
        if isinstance(event, Decided):
            for alert in event.alerts:
                if alert.firing or alert.state is AlertState.ENDED:
                    by_key[alert.key] = AlertIncident(alert)
                elif alert.state is AlertState.RESOLVED and alert.key in by_key:
                    by_key[alert.key] = AlertIncident(by_key[alert.key].alert, event.at)
        elif isinstance(event, Launched):  # a new instance closes the old one's alerts
            by_key = {
                key: AlertIncident(one.alert, event.at, True) if _is_open(one) else one
                for key, one in by_key.items()
            }
    return list(by_key.values())


def _is_open(one: AlertIncident) -> bool:
    return one.resolved is None and one.alert.firing


def alerts(entries: Iterable[AlertIncident]) -> list[StepMark]:
    """Each at the steps where it happened, whenever it was noticed."""
    return [
        StepMark(Kind.ALERT, first, one.alert.check, one.alert.message, one.alert.since, last)
        for one in entries
        for first, last in [one.steps]
    ]


def seals(events: Iterable[Event], step: int) -> list[StepMark]:
    return [
        StepMark(Kind.SEAL, step, f"sealed as {e.tag}", "", e.at)
        for e in events
        if isinstance(e, Sealed)
    ]
