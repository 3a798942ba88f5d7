"""The state that the journal's events reduce to."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property

from herorun.core.babysit.action_key import Verb, parse_key, verb_of
from herorun.core.babysit.alert import Alert
from herorun.core.event import Launching, Ordered, Sealed, Word
from herorun.core.evidence import History, Instance, LaunchedEdits, Unfinished
from herorun.core.journal.fields import JournalFields
from herorun.core.journal.launch_intents import (
    launched_edits,
    launcher_of,
    plan_value,
    start_step,
    unintended_instances,
)
from herorun.core.lazy_dataclass import dataclass
from herorun.core.notify.page_policy import UndeliveredAlert, list_undelivered_alerts
from herorun.core.recovery.classify import Cause
from herorun.core.recovery.diagnosis import LOST_TEMPORARY
from herorun.core.recovery.policy import Ledger, Span

# the same words within it are the same order, repeated after an interruption
AGAIN = timedelta(minutes=10)


@dataclass(frozen=True)
class Memory(JournalFields):
    """The state that the journal reduces to: its fields, and what follows from them.

    A tick asks for some of it twenty times; that is computed once, for the fields never change.
    """

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
    def unacknowledged_alerts(self) -> tuple[Alert, ...]:
        """Alerts that ended unresolved, and that nobody has acknowledged."""
        return tuple(alert for key, alert in self.ended.items() if key not in self.acked)

    @property
    def adopted_jobs(self) -> dict[str, str]:
        """Instance -> the job that it is, of those that herorun did not submit."""
        adoptions = {name: each.adopts for name, each in self.launchings.items()}
        return {name: adopts.job for name, adopts in adoptions.items() if adopts}

    @cached_property
    def strays(self) -> tuple[Instance, ...]:
        """See `unintended_instances`."""
        return unintended_instances(self.instances, self.launchings)

    def proven_only(self, rejected_launches: frozenset[str], seals: tuple[Sealed, ...]) -> "Memory":
        """Without the launches of these instances and without these seals, as if they had
        not been written.
        """
        strays = self.strays
        if not (rejected_launches or seals or strays):
            return self
        open_launch = self.unsettled
        return replace(
            self,
            launchings={
                name: each
                for name, each in self.launchings.items()
                if name not in rejected_launches
            },
            instances=tuple(
                i for i in self.instances if i.name not in rejected_launches and i not in strays
            ),
            unsettled=None
            if open_launch and open_launch.instance in rejected_launches
            else open_launch,
            sealed=None if self.sealed in seals else self.sealed,
            milestones=tuple(each for each in self.milestones if each not in seals),
            highest=self.next_number - 1,
        )

    @property
    def newest(self) -> str:
        """The instance that is being started; otherwise the current one; empty before any."""
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

    @cached_property
    def ledger(self) -> Ledger:
        return Ledger(
            done=frozenset(self.done),
            failed=self.failed,
            unfinished=frozenset(self.intended) | frozenset(self.queued),
            relaunched=self.relaunched,
            instance=self.current.name if self.current else "",
            relaunch_causes=self.relaunch_causes,
            endings=tuple(self.endings.values()),
            answers=self.answers,
            acked=frozenset(self.acked),
            decision=self.decision,
            pause=self.pause,
            stopped=self.stopped_instances,
            start_step=self._start_step(),
            spans=self._spans(),
            past=self.past,
            ended=self.unacknowledged_alerts,
            left_alerts=self.left_alerts,
            taints=tuple(self.health.open.values()),
        )

    def just_ordered(
        self, word: Word, about: tuple[str, ...], by: str, reason: str, now: datetime
    ) -> bool:
        """The very same order, moments ago: a person who was interrupted after it was done types it
        again.
        """
        same = [
            o for o in self.orders if (o.word, o.about, o.by, o.reason) == (word, about, by, reason)
        ]
        return any(now - each.at < AGAIN for each in same)

    @property
    def ordered_stops(self) -> dict[str, str]:
        """The instances that herorun itself stopped, or tried to, or whose end it recorded by order
        because the scheduler had forgotten them; and for whom. An order about one that had ended
        already stopped nothing, and does not explain its end.
        """
        by = self.stopped_instances
        keys = (*self.done, *self.intended, *self.failed)
        stops = [parse_key(key).topic for key in keys if verb_of(key) == Verb.STOP]
        stops += [name for name, end in self.ends.items() if end.forgotten]
        return {name: by[name] for name in stops if name in by}

    @property
    def stopped_instances(self) -> dict[str, str]:
        """The instances that nothing relaunches by itself, and who ordered their stop."""
        keys = (*self.done, *self.intended)
        stops = {parse_key(key).topic: "the contract" for key in keys if verb_of(key) == Verb.STOP}
        ordered_stops = {
            name: one.by for one in self.orders if one.word is Word.STOP for name in one.about
        }
        return {**stops, **ordered_stops}

    @property
    def decision(self) -> str:
        """Who decided something about the current instance, and what: denied a relaunch, ordered
        its stop, or acknowledged an alert since its launch. "" if nobody has.
        """
        if self.current is None:
            return ""
        name, since = self.current.name, self.current.started
        answer = self.answers.get(name)
        if answer and not answer.yes:
            return f"{answer.by} denied a relaunch"
        by_person = [o for o in self.orders if o.word is Word.STOP and name in o.about]
        if by_person:
            return f"{by_person[-1].by} ordered its stop"
        if end := self.ends.get(name):  # what was acknowledged before it is no answer to it
            since = max(since, end.ended or end.at)
        acks = [order for order in self.acked.values() if order.at >= since]
        return f"{acks[-1].by} acknowledged what is wrong" if acks else ""

    @property
    def rollback_ordered(self) -> Ordered | None:
        """A person's order to go back that is not carried out: until it is, or is refused, nothing
        else continues.
        """
        name = self.current.name if self.current else ""
        about = [
            o for o in self.orders if o.word in (Word.ROLLBACK, Word.RELAUNCH) and name in o.about
        ]
        if not about or about[-1].word is not Word.ROLLBACK:
            return None
        key = about[-1].about[-1]
        tries = self.failed.get(key)
        is_refused = tries is not None and not tries.interrupted and tries.last >= about[-1].at
        return None if key in self.done or is_refused else about[-1]

    def _start_step(self) -> int:
        """The step that the current instance continued from; -1 for one from scratch, for one that
        takes over weights alone, whose steps are counted from 0 again, and where no step is known.
        """
        launching = self.launchings.get(self.current.name) if self.current else None
        start = plan_value(launching.plan, "start") if launching else None
        if not isinstance(start, Mapping) or start.get("kind") == "weights-only":
            return -1
        return int(start["step"]) if start.get("step") is not None else -1

    def _spans(self) -> tuple[Span, ...]:
        """When each instance ran: until its failure, or until the next one was started."""
        nexts = [*(each.started for each in self.instances), None][1:]
        end_times = {name: ending.ended for name, ending in self.endings.items()}
        return tuple(
            Span(each.name, each.started, end_times.get(each.name, after))
            for each, after in zip(self.instances, nexts, strict=True)
        )

    @cached_property
    def history(self) -> History:
        return History(
            initialised=self.initialised is not None,
            instances=self.instances,
            sealed=self.sealed.tag if self.sealed else None,
            checked_in=self.checked_in,
            starts=self.starts,
            restarts=self.restarts,
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
            stopped=tuple(sorted(self.ordered_stops.items())),
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
        return start_step(self._first_launching) if self._first_launching else None

    @property
    def launched_by(self) -> str:
        """`user@machine` that launched the first instance; empty if it is not recorded."""
        return launcher_of(self._first_launching)

    @property
    def _first_launching(self) -> Launching | None:
        return self.launchings.get(self.instances[0].name) if self.instances else None

    @property
    def _deleting(self) -> frozenset[str]:
        """What is perhaps half deleted: its deletion was begun, and is not known to be done."""
        prune_keys = (key for key in (*self.intended, *self.failed) if verb_of(key) == Verb.PRUNE)
        return frozenset(parse_key(key).detail for key in prune_keys if key not in self.done)

    @property
    def edits(self) -> LaunchedEdits:
        """The edits that its instances ran with."""
        names = (each.name for each in self.instances)
        return launched_edits([self.launchings[name] for name in names if name in self.launchings])

    @property
    def undelivered_alerts(self) -> tuple[UndeliveredAlert, ...]:
        """Messages that no channel has accepted yet."""
        return list_undelivered_alerts(self.pages, self.queued, self.failed)

    @property
    def unfinished_actions(self) -> Unfinished:
        pending = [
            (i.at, f"{i.key}: {i.what}")
            for i in self.intended.values()
            if verb_of(i.key) != Verb.PAGE
        ]
        if self.unsettled:
            pending.append((self.unsettled.at, f"{self.unsettled.key}: {self.unsettled.why}"))
        pending.sort()
        return Unfinished(tuple(what for _, what in pending), pending[0][0] if pending else None)
