"""What the contract permits the babysitter, and what it did before: the input of `decide` besides
the alerts.
"""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime, timedelta

from herorun.core.babysit.alert import Alert
from herorun.core.contract import Recovery
from herorun.core.evidence import Taint
from herorun.core.lazy_dataclass import dataclass
from herorun.core.recovery.classify import Cause, Ending


@dataclass(frozen=True, kw_only=True)
class RecoveryPolicy:
    """What the contract allows the babysitter to do."""

    recovery: Recovery = Recovery.RELAUNCH
    relaunches: int = 6
    window: timedelta = timedelta(hours=24)
    cadence: timedelta = timedelta(minutes=15)
    infra: int = 6
    unknown: int = 3
    code_bug: int = 1  # relaunches by a person: the babysitter makes none
    oom: int = 0
    stop_on: tuple[str, ...] = ()
    accelerator_hours: float | None = None
    accelerators: int | None = None
    delete_bad_node: bool = False
    zone: str = ""
    # False under `[tracker] resume = "never"`: it continues only as another run
    resumable: bool = True
    milestones: tuple[int, ...] = ()  # steps whose checkpoints are reported
    rate: float | None = None  # money for one accelerator-hour
    quiet_every: timedelta = timedelta(hours=1)  # between two entries of quiet ticks in the logbook

    # an unacknowledged critical alert of this age goes to a second person; None: there is none
    second_after: timedelta | None = None

    @property
    def hourly_cost(self) -> str:
        """What an hour of a job costs.

        >>> RecoveryPolicy(accelerators=256, rate=2.5).hourly_cost
        'Each hour uses 256 accelerator-hours, which cost 640.00 in the currency of [budget] rate'
        """
        return format_hourly_cost(self.accelerators, self.rate)

    def budget(self, cause: Cause) -> int | None:
        """The allowed relaunches within the window after such an end; None if they are free."""
        if cause.free:
            return None
        own = {Cause.INFRA: self.infra, Cause.UNKNOWN: self.unknown, Cause.OUT_OF_MEMORY: self.oom}
        return own.get(cause, 0)


def format_hourly_cost(accelerators: int | None, rate: float | None) -> str:
    """What an hour of a job costs, if the contract states it."""
    if accelerators is None:
        return "The cost of an hour is unknown: [hardware] count is not stated"
    cost = f"{accelerators * rate:,.2f} in the currency of [budget] rate" if rate else ""
    hours = f"Each hour uses {accelerators} accelerator-hours"
    return f"{hours}, which cost {cost}" if cost else hours


@dataclass(frozen=True)
class FailedAttempts:
    """The failed attempts under one key."""

    count: int
    last: datetime
    why: str = ""
    interrupted: bool = False  # the last one was interrupted, not refused, so no delay is needed


@dataclass(frozen=True)
class RelaunchAnswer:
    """A person's answer to the question whether an instance is relaunched."""

    yes: bool
    at: datetime
    by: str
    reason: str = ""

    @property
    def summary(self) -> str:
        return (
            f"{'approved' if self.yes else 'denied'} by "
            f"{self.by}{f': {self.reason}' if self.reason else ''}"
        )


@dataclass(frozen=True)
class ActionPause:
    """Until then no action on the job is taken. Monitoring continues."""

    until: datetime
    by: str
    at: datetime
    reason: str = ""


@dataclass(frozen=True)
class Span:
    """When an instance ran; `until` is None while its end is unknown."""

    instance: str
    since: datetime
    until: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Earlier actions and attempts, as `decide` needs them."""

    done: frozenset[str] = frozenset()
    failed: Mapping[str, FailedAttempts] = field(default_factory=dict)
    unfinished: frozenset[str] = frozenset()  # intended, with an unknown outcome
    relaunched: tuple[datetime, ...] = ()  # those that count against the budget
    instance: str = ""
    relaunch_causes: tuple[tuple[datetime, Cause], ...] = ()  # the same, with what they followed
    endings: tuple[Ending, ...] = ()  # one for each instance, in order
    answers: Mapping[str, RelaunchAnswer] = field(default_factory=dict)  # by instance
    acked: frozenset[str] = frozenset()  # alerts that a person has acknowledged
    pause: ActionPause | None = None
    decision: str = ""  # what a person decided about the current instance, and who
    # instances that were ordered to stop, also after their end, and by whom
    stopped: Mapping[str, str] = field(default_factory=dict)
    start_step: int = 0  # the start step of the current instance; -1 from scratch
    spans: tuple[Span, ...] = ()
    past: tuple[Alert, ...] = ()  # alerts that are over, or that a relaunch closed
    taints: tuple[Taint, ...] = ()  # of the current instance
    ended: tuple[Alert, ...] = ()  # unresolved and not acknowledged
    # of earlier instances, which fired at the current one's launch
    left_alerts: tuple[Alert, ...] = ()

    @property
    def answer(self) -> RelaunchAnswer | None:
        """The answer about the current instance."""
        return self.answers.get(self.instance)

    def is_paused(self, now: datetime) -> bool:
        return self.pause is not None and now < self.pause.until


def hours_used(spans: tuple[Span, ...], accelerators: int, now: datetime) -> float:
    """Accelerator-hours of all instances."""
    seconds = sum(((span.until or now) - span.since).total_seconds() for span in spans)
    return max(seconds, 0.0) / 3600 * accelerators
