"""What the reducer keeps of the journal's events."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from herorun.core.babysit.alert import Alert, AlertId
from herorun.core.clock_skew import ClockJumps
from herorun.core.event import (
    Decided,
    HandedOff,
    Initialised,
    Intended,
    Launching,
    Ordered,
    Sealed,
)
from herorun.core.evidence import (
    End,
    GivenUp,
    Instance,
    Placement,
)
from herorun.core.lazy_dataclass import dataclass
from herorun.core.notify.page_policy import Pages
from herorun.core.record.lease import Lease
from herorun.core.recovery.classify import Cause, Ending
from herorun.core.recovery.policy import ActionPause, FailedAttempts, RelaunchAnswer
from herorun.core.taint import Health
from herorun.core.version_gate import VersionGate


@dataclass(frozen=True, kw_only=True)
class JournalFields:
    """What the reducer updates with each event; `Memory` derives the rest."""

    initialised: Initialised | None = None
    instances: tuple[Instance, ...] = ()
    leaps: ClockJumps = ClockJumps()
    # by instance, all that ever were
    launchings: Mapping[str, Launching] = field(default_factory=dict)
    unsettled: Launching | None = None  # submitted perhaps
    alerts: Mapping[AlertId, Alert] = field(default_factory=dict)
    past: tuple[Alert, ...] = ()  # alerts that are over, or that a relaunch closed, the newest ones
    left_alerts: tuple[
        Alert, ...
    ] = ()  # that fired when the next instance was launched; no tick has seen them since
    ended: Mapping[str, Alert] = field(
        default_factory=dict
    )  # by key: those that ended unresolved, all there were
    intended: Mapping[str, Intended] = field(default_factory=dict)  # no outcome yet
    queued: Mapping[str, Intended] = field(default_factory=dict)  # posts that failed and still wait
    done: Mapping[str, str] = field(default_factory=dict)  # key -> result
    failed: Mapping[str, FailedAttempts] = field(default_factory=dict)
    relaunched: tuple[datetime, ...] = ()
    checked_in: frozenset[str] = frozenset()
    starts: tuple[
        tuple[datetime, int], ...
    ] = ()  # of the current instance: when an attempt was first seen, its number
    # of the current instance, beyond its first start; by the job's own clock
    restarts: tuple[tuple[datetime, int], ...] = ()
    caveats: tuple[str, ...] = ()
    sealed: Sealed | None = None
    milestones: tuple[Sealed, ...] = ()  # seals after which the run continues
    last_decided: Decided | None = None
    ticks: int = 0  # that were recorded
    last_seen: datetime | None = None  # the newest tick that could see the run
    last_summary: datetime | None = None
    rows: int = 0  # of the tracker, that the newest tick knew that could read them
    health: Health = field(default_factory=Health)
    # by instance, as its scheduler tells
    job_started: Mapping[str, datetime] = field(default_factory=dict)
    # by instance: the nodes and images that its scheduler names
    placements: Mapping[str, Placement] = field(default_factory=dict)
    # by instance, in the order that they were seen
    ends: Mapping[str, End] = field(default_factory=dict)
    most_saved: int = 0  # checkpoints at once
    temporary_saved: int | None = None  # newest step in the temporary root since the last launch
    given_up: tuple[GivenUp, ...] = ()  # by rollbacks
    # failures by instance, in the same order
    endings: Mapping[str, Ending] = field(default_factory=dict)
    relaunch_causes: tuple[
        tuple[datetime, Cause], ...
    ] = ()  # relaunches that count, and what they followed
    answers: Mapping[str, RelaunchAnswer] = field(default_factory=dict)  # by instance: relaunch it?
    acked: Mapping[str, Ordered] = field(default_factory=dict)  # by the alert's key
    pause: ActionPause | None = None
    orders: tuple[Ordered, ...] = ()  # all that people ordered
    lease: Lease | None = None  # where the record is its place
    handed: HandedOff | None = None  # the newest
    judge: VersionGate = field(
        default_factory=VersionGate
    )  # which herorun ticks, and whether it may act
    pages: Pages = field(default_factory=Pages)  # to the DRI, beyond the issue
    newer: bool = False  # some lines are a newer herorun's: this one may look and must not act
    highest: int = 0  # number of the newest launch that does not count: it is not given again
