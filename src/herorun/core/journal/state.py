"""The state that the journal's events amount to."""

from collections.abc import Mapping
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import Any

from herorun.core.babysit.action_key import Verb, parse_key, verb_of
from herorun.core.babysit.alert import Alert, AlertId
from herorun.core.clock_skew import Leaps
from herorun.core.event import (
    Decided,
    HandedOff,
    Initialised,
    Intended,
    Launching,
    Ordered,
    Sealed,
    Word,
)
from herorun.core.evidence import (
    End,
    GivenUp,
    History,
    Instance,
    LaunchedEdits,
    Placement,
    Unfinished,
)
from herorun.core.lazy_dataclass import dataclass
from herorun.core.notify.paging import NotTold, Pages, undelivered
from herorun.core.record.lease import Lease
from herorun.core.recovery.classify import Cause, Ending
from herorun.core.recovery.diagnosis import LOST_TEMPORARY
from herorun.core.recovery.policy import ActionPause, Ledger, RelaunchAnswer, Span, Tries
from herorun.core.taint import Health
from herorun.core.version_gate import Judge

# the same words within it are the same order, said again after an interruption
AGAIN = timedelta(minutes=10)


@dataclass(frozen=True)
class Memory:
    """What the journal amounts to."""

    initialised: Initialised | None = None
    instances: tuple[Instance, ...] = ()
    leaps: Leaps = Leaps()
    # by instance, all that ever were
    launchings: Mapping[str, Launching] = field(default_factory=dict)
    unsettled: Launching | None = None  # submitted perhaps
    alerts: Mapping[AlertId, Alert] = field(default_factory=dict)
    past: tuple[Alert, ...] = ()  # alerts that are over, or that a relaunch closed, the newest ones
    left: tuple[
        Alert, ...
    ] = ()  # that fired when the next instance was launched; no tick has seen them since
    ended: Mapping[str, Alert] = field(
        default_factory=dict
    )  # by key: those that ended unresolved, all there were
    intended: Mapping[str, Intended] = field(default_factory=dict)  # no outcome yet
    queued: Mapping[str, Intended] = field(default_factory=dict)  # posts that failed and still wait
    done: Mapping[str, str] = field(default_factory=dict)  # key -> result
    failed: Mapping[str, Tries] = field(default_factory=dict)
    relaunched: tuple[datetime, ...] = ()
    checked_in: frozenset[str] = frozenset()
    starts: tuple[
        tuple[datetime, int], ...
    ] = ()  # of the current instance: when an attempt was first seen, its number
    # of it, beyond its first start; by the job's own clock
    restarts: tuple[tuple[datetime, int], ...] = ()
    caveats: tuple[str, ...] = ()
    sealed: Sealed | None = None
    milestones: tuple[Sealed, ...] = ()  # seals after which the run goes on
    last_decided: Decided | None = None
    ticks: int = 0  # that were recorded
    last_seen: datetime | None = None  # the newest tick that could see the run
    last_summary: datetime | None = None
    rows: int = 0  # of the tracker, that the newest tick knew that could read them
    health: Health = field(default_factory=Health)
    # by instance, as its scheduler tells
    job_started: Mapping[str, datetime] = field(default_factory=dict)
    # by instance: its nodes and images, as far as its scheduler tells
    placements: Mapping[str, Placement] = field(default_factory=dict)
    # by instance, in the order that they were seen
    ends: Mapping[str, End] = field(default_factory=dict)
    most_saved: int = 0  # checkpoints at once
    temporary_saved: int | None = None  # newest step in the temporary root since the last launch
    given_up: tuple[GivenUp, ...] = ()  # by rollbacks
    # failures by instance, in the same order
    endings: Mapping[str, Ending] = field(default_factory=dict)
    spent: tuple[tuple[datetime, Cause], ...] = ()  # relaunches that count, and what they followed
    answers: Mapping[str, RelaunchAnswer] = field(default_factory=dict)  # by instance: relaunch it?
    acked: Mapping[str, Ordered] = field(default_factory=dict)  # by the alert's key
    pause: ActionPause | None = None
    orders: tuple[Ordered, ...] = ()  # all that people ordered
    lease: Lease | None = None  # where the record is its place
    handed: HandedOff | None = None  # the newest
    judge: Judge = field(default_factory=Judge)  # which herorun ticks, and whether it may act
    pages: Pages = field(default_factory=Pages)  # to the DRI, beyond the issue
    newer: bool = False  # some lines are a newer herorun's: this one may look and must not act
    highest: int = 0  # number of the newest launch that does not count: it is not given again

    @property
    def current(self) -> Instance | None:
        return self.instances[-1] if self.instances else None

    @property
    def stage(self) -> str:
        """How far it has come: not initialised, initialised, launched or sealed."""
        if self.sealed:
            return "sealed"
        if self.instances:
            return "launched"
        return "initialised" if self.initialised else "not initialised"

    @property
    def unacknowledged(self) -> tuple[Alert, ...]:
        """Alerts that ended unresolved, and of which no person has taken note."""
        return tuple(alert for key, alert in self.ended.items() if key not in self.acked)

    @property
    def adopted(self) -> dict[str, str]:
        """Instance -> the job that it is, of those that herorun did not submit."""
        adoptions = {name: each.adopts for name, each in self.launchings.items()}
        return {name: adopts.job for name, adopts in adoptions.items() if adopts}

    @property
    def strays(self) -> tuple[Instance, ...]:
        """Instances that no launch intended like this, and those that name another job for one that
        was there before.
        """
        first: dict[str, Instance] = {}
        for instance in self.instances:
            first.setdefault(instance.name, instance)
        return tuple(
            each
            for each in self.instances
            if not _matches_intent(each, self.launchings.get(each.name))
            or each.job != first[each.name].job
        )

    def believed(self, disbelieved: frozenset[str], seals: tuple[Sealed, ...]) -> "Memory":
        """Without the launches of these instances and without these seals, as if nobody had written
        them.
        """
        strays = self.strays
        if not (disbelieved or seals or strays):
            return self
        waiting = self.unsettled
        return replace(
            self,
            launchings={
                name: each for name, each in self.launchings.items() if name not in disbelieved
            },
            instances=tuple(
                i for i in self.instances if i.name not in disbelieved and i not in strays
            ),
            unsettled=None if waiting and waiting.instance in disbelieved else waiting,
            sealed=None if self.sealed in seals else self.sealed,
            milestones=tuple(each for each in self.milestones if each not in seals),
            highest=self.next_number - 1,
        )

    @property
    def newest(self) -> str:
        """The instance that is being started, else the current one; empty before any."""
        return (
            self.unsettled.instance if self.unsettled else self.current.name if self.current else ""
        )

    @property
    def next_number(self) -> int:
        """The number of the next instance. A launch that ended unsubmitted keeps its number."""
        return (
            max((self.highest, *(launching.number for launching in self.launchings.values()))) + 1
        )

    def attempt(self, key: str) -> int:
        tries = self.failed.get(key)
        return (tries.count if tries else 0) + 1

    @property
    def ledger(self) -> Ledger:
        return Ledger(
            done=frozenset(self.done),
            failed=self.failed,
            unfinished=frozenset(self.intended) | frozenset(self.queued),
            relaunched=self.relaunched,
            instance=self.current.name if self.current else "",
            spent=self.spent,
            endings=tuple(self.endings.values()),
            answers=self.answers,
            acked=frozenset(self.acked),
            pause=self.pause,
            stopped=self.kept_down,
            start_step=self._start_step(),
            spans=self._spans(),
            past=self.past,
            ended=self.unacknowledged,
            left=self.left,
            taints=tuple(self.health.open.values()),
        )

    def just_ordered(
        self, word: Word, about: tuple[str, ...], by: str, reason: str, now: datetime
    ) -> bool:
        """The very same order, moments ago: whoever was interrupted after it was done types it
        again.
        """
        same = [
            o for o in self.orders if (o.word, o.about, o.by, o.reason) == (word, about, by, reason)
        ]
        return any(now - each.at < AGAIN for each in same)

    @property
    def stopped(self) -> dict[str, str]:
        """The instances that herorun itself stopped, or tried to, and for whom. An order about one
        that had ended already stopped nothing, and does not explain its end.
        """
        by = self.kept_down
        keys = (*self.done, *self.intended, *self.failed)
        stops = (parse_key(key).topic for key in keys if verb_of(key) == Verb.STOP)
        return {name: by[name] for name in stops if name in by}

    @property
    def kept_down(self) -> dict[str, str]:
        """The instances that nothing relaunches by itself, and who ordered their stop."""
        keys = (*self.done, *self.intended)
        stops = {parse_key(key).topic: "the contract" for key in keys if verb_of(key) == Verb.STOP}
        ordered = {
            name: one.by for one in self.orders if one.word is Word.STOP for name in one.about
        }
        return {**stops, **ordered}

    @property
    def rollback_ordered(self) -> Ordered | None:
        """A person's order to go back that is not carried out: until it is, or is refused, nothing
        else goes on.
        """
        name = self.current.name if self.current else ""
        about = [
            o for o in self.orders if o.word in (Word.ROLLBACK, Word.RELAUNCH) and name in o.about
        ]
        if not about or about[-1].word is not Word.ROLLBACK:
            return None
        key = about[-1].about[-1]
        tries = self.failed.get(key)
        refused = tries is not None and not tries.interrupted and tries.last >= about[-1].at
        return None if key in self.done or refused else about[-1]

    def _start_step(self) -> int:
        """The step that the current instance went on from; -1 for one from scratch."""
        launching = self.launchings.get(self.current.name) if self.current else None
        start = plan_value(launching.plan, "start") if launching else None
        return (
            int(start["step"])
            if isinstance(start, Mapping) and start.get("step") is not None
            else -1
        )

    def _spans(self) -> tuple[Span, ...]:
        """When each instance ran: until its failure, or until the next one was started."""
        nexts = [*(each.started for each in self.instances), None][1:]
        end_times = {name: ending.ended for name, ending in self.endings.items()}
        return tuple(
            Span(each.name, each.started, end_times.get(each.name, after))
            for each, after in zip(self.instances, nexts, strict=True)
        )

    @property
    def history(self) -> History:
        return History(
            initialised=self.initialised is not None,
            instances=self.instances,
            sealed=self.sealed.tag if self.sealed else None,
            checked_in=self.checked_in,
            starts=self.starts,
            restarts=self.restarts,
            open_alerts=tuple(a.key for a in self.alerts.values() if a.firing),
            caveats=self.caveats,
            foreign=frozenset(
                path for launching in self.launchings.values() for path in launching.foreign
            ),
            taints=self.health.taints,
            given_up=self.given_up,
            ends=tuple(self.ends.values()),
            most_saved=self.most_saved,
            temporary_saved=self.temporary_saved,
            last_tick=self.last_decided.at if self.last_decided else None,
            rows=self.rows,
            last_tick_whole=self.last_decided is None or self.last_decided.monitor == "fresh",
            stopped=tuple(sorted(self.stopped.items())),
            began=self._began(),
            deleting=self._deleting,
            lost_output=frozenset(
                e.instance for e in self.endings.values() if e.cause is Cause.LOST_OUTPUT
            ),
            lost_temporary=frozenset(
                e.instance for e in self.endings.values() if e.seen in LOST_TEMPORARY
            ),
            leaps=self.leaps,
        )

    def _began(self) -> int | None:
        """Where the first instance began."""
        first = self.launchings.get(self.instances[0].name) if self.instances else None
        return start_step(first) if first else None

    @property
    def _deleting(self) -> frozenset[str]:
        """What is perhaps half deleted: a deletion of it was begun, and is not known to be done."""
        prune_keys = (key for key in (*self.intended, *self.failed) if verb_of(key) == Verb.PRUNE)
        return frozenset(parse_key(key).detail for key in prune_keys if key not in self.done)

    @property
    def edits(self) -> LaunchedEdits:
        """The edits that its instances ran with."""
        ran = [
            self.launchings[each.name] for each in self.instances if each.name in self.launchings
        ]
        patches = {
            each.instance: patch for each in ran if (patch := plan_value(each.plan, "patch"))
        }
        unnamed = (
            each.instance
            for each in ran
            if each.instance not in patches
            and plan_value(each.plan, "in_place")
            and each.dirty != "no"
        )
        return LaunchedEdits(patches, tuple(unnamed))

    @property
    def undelivered(self) -> tuple[NotTold, ...]:
        """What must be told and reached nobody yet."""
        return undelivered(self.pages, self.queued, self.failed)

    @property
    def unfinished(self) -> Unfinished:
        waiting = [
            (i.at, f"{i.key}: {i.what}")
            for i in self.intended.values()
            if verb_of(i.key) != Verb.PAGE
        ]
        if self.unsettled:
            waiting.append((self.unsettled.at, f"{self.unsettled.key}: {self.unsettled.why}"))
        waiting.sort()
        return Unfinished(tuple(what for _, what in waiting), waiting[0][0] if waiting else None)


def _matches_intent(instance: Instance, launching: Launching | None) -> bool:
    """Whether an instance is what its launch intended."""
    if launching is None:
        return False
    plan = launching.plan
    intended = launching.plan_digest, plan_value(plan, "output_root"), plan_value(plan, "commit")
    return (instance.plan_digest, instance.output_root, instance.commit) == intended


def plan_value(plan: Mapping[str, Any], name: str) -> Any:
    """One value of a plan as the journal keeps it, with its source."""
    sourced = plan.get(name)
    return sourced.get("value") if isinstance(sourced, Mapping) else None


def start_step(launching: Launching) -> int | None:
    """The completed updates that a launch starts from; None where nobody knows.

    0 from scratch, and where weights alone are taken over: then the steps are counted from 0 again.
    """
    start = plan_value(launching.plan, "start")
    if not isinstance(start, Mapping) or start.get("kind") == "weights-only":
        return 0
    step = start.get("step")
    return step if isinstance(step, int) else None
