"""The journal: hash-chained JSON lines, one event a line. Memory is folded from them and never stored apart.

A line holds `v` (the journal's version), `id` (the event's own digest, the same wherever it is re-applied), `kind`,
the event's fields, `prev` (the hash of the line before) and `hash` (over all of that).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from herorun.core.alert import Alert, AlertId, State
from herorun.core.canonical import canonical, digest, plain
from herorun.core.codec import read
from herorun.core.event import (
    KINDS,
    CheckedIn,
    Decided,
    Done,
    Event,
    Failed,
    HandedOff,
    Initialised,
    Intended,
    Launched,
    Launching,
    Leased,
    Newer,
    Noted,
    Observed,
    Ordered,
    Replayed,
    Sealed,
    Word,
)
from herorun.core.evidence import End, GivenUp, History, Instance, LaunchedEdits, Unfinished
from herorun.core.judge import QUESTION, Judge
from herorun.core.lease import Lease, follows
from herorun.core.outside import read_json
from herorun.core.paging import PAGE, NotTold, Pages, not_told
from herorun.core.recovery.ending import Cause, Ending
from herorun.core.recovery.policy import Answer, Ledger, Pause, Span, Tries
from herorun.core.sealing.kinds import SealKind
from herorun.core.taint import Health, decided, launched

VERSION = 1
PRUNE = "prune/"  # begins the keys of deletions: `prune/<plan>/<path>`
START = ""  # the `prev` of the first line
UNKNOWN = "?"  # the `prev` or `hash` of a newer line, where it has none that we can read
UNTIMED = datetime.min.replace(tzinfo=UTC)


class BrokenJournal(ValueError):
    """A line does not fit: says which and why."""


@dataclass(frozen=True)
class Line:
    """One line of the journal, parsed."""

    event: Event
    id: str
    prev: str
    hash: str
    text: str
    entry: str = ""  # digest of its entry in the logbook, as it was written; empty where it has none


def event_id(event: Event) -> str:
    """The event's own digest, without its place in the chain."""
    return digest({"kind": event.kind, **plain(event)})[7:23]


def write_line(event: Event, prev: str, entry: str = "") -> Line:
    """`entry` is the digest of the event's logbook entry: a later rendering must not make an old entry look changed."""
    body = {"v": VERSION, "id": event_id(event), "kind": event.kind, "prev": prev, "event": plain(event)}
    if entry:
        body["entry"] = entry
    body["hash"] = digest(body)
    return Line(event, str(body["id"]), prev, str(body["hash"]), canonical(body), entry)


def chain(
    events: Iterable[Event], prev: str, entry_digest: Callable[[Event], str] = lambda _: ""
) -> list[Line]:
    """Write events one after another, each naming the hash of the one before."""
    lines = []
    for event in events:
        line = write_line(event, prev, entry_digest(event))
        lines.append(line)
        prev = line.hash
    return lines


def read_line(text: str, place: str) -> Line:
    """Parse one line and check its hash. A line of a newer version is kept as `Newer`, as far as it can be read."""
    try:
        body = read_json(text)
        version = body["v"]
    except (ValueError, TypeError, KeyError):
        raise BrokenJournal(f"{place}: not a journal line") from None
    if not isinstance(version, int):
        raise BrokenJournal(f"{place}: its version is {version!r}, which is no number")
    if version > VERSION:
        return _newer(body, version, text)
    try:
        claimed = body.pop("hash")
        kind = KINDS[body["kind"]]
        event = read(kind, body["event"])
        line = Line(event, body["id"], body["prev"], claimed, text, body.get("entry", ""))
    except (KeyError, TypeError, ValueError) as error:
        raise BrokenJournal(f"{place}: {str(error).splitlines()[0]}") from None
    if canonical({**body, "hash": claimed}) != text:
        raise BrokenJournal(f"{place}: not in the form that herorun writes: it was changed")
    if digest(body) != claimed:
        raise BrokenJournal(f"{place}: the hash does not fit the line: it was changed")
    # Of the words that were written: a field that a later version adds must not change an old event's id.
    if digest({"kind": body["kind"], **body["event"]})[7:23] != line.id:
        raise BrokenJournal(f"{place}: the id does not fit the event: it was changed")
    return line


def _newer(body: Mapping[str, Any], version: int, text: str) -> Line:
    known = {name: value for name, value in body.items() if isinstance(value, str)}
    event = body.get("event")
    try:
        at = datetime.fromisoformat(event["at"]) if isinstance(event, Mapping) else UNTIMED
    except (KeyError, TypeError, ValueError):
        at = UNTIMED
    at = at if at.tzinfo else UNTIMED
    return Line(
        Newer(at, version), known.get("id", ""), known.get("prev", UNKNOWN), known.get("hash", UNKNOWN), text
    )


def read_lines(texts: Iterable[tuple[str, str]], prev: str = START) -> list[Line]:
    """Parse `(place, text)` pairs in order and check the chain."""
    lines = []
    for place, text in texts:
        line = read_line(text, place)
        if line.prev != prev and UNKNOWN not in (line.prev, prev):
            raise BrokenJournal(f"{place}: does not follow the line before it")
        lines.append(line)
        prev = line.hash
    return lines


MOST_STARTS = 20


@dataclass(frozen=True)
class Memory:
    """What the journal amounts to."""

    initialised: Initialised | None = None
    instances: tuple[Instance, ...] = ()
    launchings: Mapping[str, Launching] = field(default_factory=dict)  # by instance, all that ever were
    unsettled: Launching | None = None  # submitted perhaps
    alerts: Mapping[AlertId, Alert] = field(default_factory=dict)
    intended: Mapping[str, Intended] = field(default_factory=dict)  # no outcome yet
    queued: Mapping[str, Intended] = field(default_factory=dict)  # posts that failed and still wait
    done: Mapping[str, str] = field(default_factory=dict)  # key -> result
    failed: Mapping[str, Tries] = field(default_factory=dict)
    relaunched: tuple[datetime, ...] = ()
    checked_in: frozenset[str] = frozenset()
    starts: tuple[
        tuple[datetime, int], ...
    ] = ()  # of the current instance: when an attempt was first seen, its number
    caveats: tuple[str, ...] = ()
    sealed: Sealed | None = None
    milestones: tuple[Sealed, ...] = ()  # seals after which the run goes on
    last_decided: Decided | None = None
    last_seen: datetime | None = None  # the newest tick that could see the run
    last_summary: datetime | None = None
    health: Health = field(default_factory=Health)
    job_started: Mapping[str, datetime] = field(default_factory=dict)  # by instance, as its scheduler tells
    ends: Mapping[str, End] = field(default_factory=dict)  # by instance, in the order that they were seen
    most_saved: int = 0  # checkpoints at once
    given_up: tuple[GivenUp, ...] = ()  # by rollbacks
    endings: Mapping[str, Ending] = field(default_factory=dict)  # failures by instance, in the same order
    spent: tuple[tuple[datetime, Cause], ...] = ()  # relaunches that count, and what they followed
    answers: Mapping[str, Answer] = field(default_factory=dict)  # by instance: relaunch it?
    acked: Mapping[str, Ordered] = field(default_factory=dict)  # by the alert's key
    pause: Pause | None = None
    orders: tuple[Ordered, ...] = ()  # all that people ordered
    lease: Lease | None = None  # where the record is its place
    handed: HandedOff | None = None  # the newest
    judge: Judge = field(default_factory=Judge)  # which herorun ticks, and whether it may act
    pages: Pages = field(default_factory=Pages)  # to the DRI, beyond the issue
    newer: bool = False  # some lines are a newer herorun's: this one may look and must not act

    @property
    def current(self) -> Instance | None:
        return self.instances[-1] if self.instances else None

    @property
    def adopted(self) -> dict[str, str]:
        """Instance -> the job that it is, of those that herorun did not submit."""
        told = {name: each.adopts for name, each in self.launchings.items()}
        return {name: adopts.job for name, adopts in told.items() if adopts}

    @property
    def newest(self) -> str:
        """The instance that is being started, else the current one; empty before any."""
        return self.unsettled.instance if self.unsettled else self.current.name if self.current else ""

    @property
    def next_number(self) -> int:
        """The number of the next instance. A launch that ended unsubmitted keeps its number."""
        return max((launching.number for launching in self.launchings.values()), default=0) + 1

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
            stopped=self.stopped,
            start_step=self._start_step(),
            spans=self._spans(),
        )

    @property
    def stopped(self) -> dict[str, str]:
        """The instances that herorun itself was told to stop, and who told it."""
        told = {name: one.by for one in self.orders if one.word is Word.STOP for name in one.about}
        keys = (*self.done, *self.intended)
        under = {key.removeprefix("stop/"): "the contract" for key in keys if key.startswith("stop/")}
        return {**under, **told}

    @property
    def rollback_ordered(self) -> Ordered | None:
        """A person's order to go back that is not carried out: until it is, or is refused, nothing else goes on."""
        name = self.current.name if self.current else ""
        about = [o for o in self.orders if o.word in (Word.ROLLBACK, Word.RELAUNCH) and name in o.about]
        if not about or about[-1].word is not Word.ROLLBACK:
            return None
        key = about[-1].about[-1]
        tries = self.failed.get(key)
        refused = tries is not None and not tries.interrupted and tries.last >= about[-1].at
        return None if key in self.done or refused else about[-1]

    def _start_step(self) -> int:
        """The step that the current instance went on from; -1 for one from scratch."""
        launching = self.launchings.get(self.current.name) if self.current else None
        start = _value(launching.plan, "start") if launching else None
        return int(start["step"]) if isinstance(start, Mapping) and start.get("step") is not None else -1

    def _spans(self) -> tuple[Span, ...]:
        """When each instance ran: until its failure, or until the next one was started."""
        nexts = [*(each.started for each in self.instances), None][1:]
        failed = {name: ending.ended for name, ending in self.endings.items()}
        return tuple(
            Span(each.name, each.started, failed.get(each.name, after))
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
            open_alerts=tuple(a.key for a in self.alerts.values() if a.firing),
            caveats=self.caveats,
            foreign=frozenset(path for launching in self.launchings.values() for path in launching.foreign),
            taints=self.health.taints,
            given_up=self.given_up,
            ends=tuple(self.ends.values()),
            most_saved=self.most_saved,
            last_tick=self.last_decided.at if self.last_decided else None,
            last_tick_whole=self.last_decided is None or self.last_decided.monitor == "fresh",
            stopped=tuple(sorted(self.stopped.items())),
            began=self._began(),
            deleting=self._deleting,
        )

    def _began(self) -> int | None:
        """0 from scratch, and where weights alone were taken over: then the steps are counted anew."""
        first = self.launchings.get(self.instances[0].name) if self.instances else None
        if first is None:
            return None
        start = _value(first.plan, "start")
        if not isinstance(start, Mapping) or start.get("kind") == "weights-only":
            return 0
        step = start.get("step")
        return step if isinstance(step, int) else None

    @property
    def _deleting(self) -> frozenset[str]:
        """What is perhaps half deleted: a deletion of it was begun, and is not known to be done."""
        begun = (key for key in (*self.intended, *self.failed) if key.startswith(PRUNE))
        return frozenset(key.removeprefix(PRUNE).partition("/")[2] for key in begun if key not in self.done)

    @property
    def edits(self) -> LaunchedEdits:
        """The edits that its instances ran with."""
        ran = [self.launchings[each.name] for each in self.instances if each.name in self.launchings]
        patches = {each.instance: patch for each in ran if (patch := _value(each.plan, "patch"))}
        unnamed = (
            each.instance
            for each in ran
            if each.instance not in patches and _value(each.plan, "in_place") and each.dirty != "no"
        )
        return LaunchedEdits(patches, tuple(unnamed))

    @property
    def not_told(self) -> tuple[NotTold, ...]:
        """What must be told and reached nobody yet."""
        return not_told(self.pages, self.queued, self.failed)

    @property
    def unfinished(self) -> Unfinished:
        waiting = [(i.at, f"{i.key}: {i.what}") for i in self.intended.values() if not i.key.startswith(PAGE)]
        if self.unsettled:
            waiting.append((self.unsettled.at, f"{self.unsettled.key}: {self.unsettled.why}"))
        waiting.sort()
        return Unfinished(tuple(what for _, what in waiting), waiting[0][0] if waiting else None)


def fold(events: Iterable[Event], memory: Memory | None = None) -> Memory:
    """Memory after these events."""
    memory = memory or Memory()
    for event in events:
        memory = _remember(memory, event)
        if (pages := memory.pages.remember(event)) is not memory.pages:
            memory = replace(memory, pages=pages)
    return memory


def _remember(memory: Memory, event: Event) -> Memory:
    match event:
        case Initialised():
            return replace(memory, initialised=event)
        case Launching() if event.instance in memory.launchings:
            return memory  # another clone was first with this instance, and the later intent was given up
        case Launching():
            launchings = {**memory.launchings, event.instance: event}
            return replace(memory, launchings=launchings, unsettled=event)
        case Launched():
            return _launched(memory, event)
        case CheckedIn():
            ours = memory.current is not None and memory.current.name == event.instance
            starts = (*memory.starts, (event.at, event.attempt))[-MOST_STARTS:] if ours else memory.starts
            return replace(memory, checked_in=memory.checked_in | {event.instance}, starts=starts)
        case Observed():
            return replace(memory, judge=memory.judge.ticked(event.version))
        case Replayed():
            return replace(memory, judge=memory.judge.judged_again(event))
        case Decided():
            kept = {a.id: a for a in event.alerts if a.state is not State.RESOLVED}
            said = event.at if event.summary else memory.last_summary
            health = decided(memory.health, event)
            ends = {**memory.ends, event.ended.instance: event.ended} if event.ended else memory.ends
            most = max(memory.most_saved, event.saved or 0)
            failed = {event.failure.instance: event.failure} if event.failure else {}
            began = {memory.current.name: event.job_started} if memory.current and event.job_started else {}
            return replace(
                memory,
                alerts=kept,
                last_decided=event,
                last_seen=memory.last_seen if event.monitor == "stale" else event.at,
                last_summary=said,
                health=health,
                ends=ends,
                most_saved=most,
                endings={**memory.endings, **failed},
                job_started={**memory.job_started, **began},
            )
        case Intended():
            return replace(memory, intended={**memory.intended, event.key: event})
        case Done():
            return replace(
                memory,
                intended=_without(memory.intended, event.key),
                queued=_without(memory.queued, event.key),
                done={**memory.done, event.key: event.result},
            )
        case Failed():
            return _failed(memory, event)
        case Noted() if event.caveat:
            return replace(memory, caveats=(*memory.caveats, event.caveat))
        case Ordered():
            return _ordered(memory, event)
        case HandedOff():
            return replace(memory, handed=event)
        case Leased():
            lease = Lease(event.owner, event.slug, event.fence, event.beat)
            return replace(memory, lease=lease) if follows(lease, memory.lease) else memory
        case Sealed(ending=SealKind.MILESTONE):
            return replace(memory, milestones=(*memory.milestones, event))
        case Sealed():
            return replace(memory, sealed=event, lease=None)  # nobody needs to own what is over
        case Newer():
            return replace(memory, newer=True)
        case _:
            return memory


def _launched(memory: Memory, event: Launched) -> Memory:
    launching = memory.launchings.get(event.instance)
    instance = Instance(
        event.instance,
        event.number,
        event.job,
        event.plan_digest,
        event.output_root,
        event.at,
        event.commit,
        event.babysitter,
        temporary_root=_value(launching.plan, "temporary_root") if launching else None,
        intended=((launching.adopts and launching.adopts.since) or launching.at) if launching else None,
    )
    unseen = [_unverified(event)] if launching and launching.adopts else []
    ending = memory.endings.get(event.relaunch_of)
    cause = ending.cause if ending else Cause.UNKNOWN
    counts = bool(event.relaunch_of) and not cause.free
    relaunched = (*memory.relaunched, event.at) if counts else memory.relaunched
    start = (_value(launching.plan, "start") if launching else None) or {}
    return replace(
        memory,
        instances=(*memory.instances, instance),
        starts=(),
        unsettled=None,
        relaunched=relaunched,
        spent=(*memory.spent, (event.at, cause)) if counts else memory.spent,
        alerts={},  # a new instance closes the old one's alerts as superseded
        given_up=(*memory.given_up, *([launching.given_up] if launching and launching.given_up else [])),
        health=launched(memory.health, launching.at if launching else event.at, start.get("step") or 0),
        caveats=(*memory.caveats, *unseen),
    )


def _unverified(event: Launched) -> str:
    """What the seal must say of an adopted instance, whatever came after it."""
    return (
        f"{event.instance} is job {event.job}, which herorun adopted and did not submit: "
        "what it ran was not compared with the plan"
    )


def _ordered(memory: Memory, event: Ordered) -> Memory:
    memory = replace(memory, orders=(*memory.orders, event))
    match event.word:
        case Word.ACK:
            return replace(memory, acked={**memory.acked, **dict.fromkeys(event.about, event)})
        case Word.APPROVE | Word.DENY:
            answer = Answer(event.word is Word.APPROVE, event.at, event.by, event.reason)
            judge = memory.judge.answered([key for key in event.about if key.startswith(QUESTION)], answer)
            keys = [key for key in event.about if key.count("/") >= 3 and not key.startswith(QUESTION)]
            said = {key.split("/")[2]: answer for key in keys}
            return replace(memory, answers={**memory.answers, **said}, judge=judge)
        case Word.PAUSE if event.until is not None:
            return replace(memory, pause=Pause(event.until, event.by, event.at, event.reason))
        case Word.RESUME:
            return replace(memory, pause=None)
        case _:
            return memory


def _value(plan: Mapping[str, Any], name: str) -> Any:
    """One value of a plan as the journal keeps it, with its source."""
    sourced = plan.get(name)
    return sourced.get("value") if isinstance(sourced, Mapping) else None


def _failed(memory: Memory, event: Failed) -> Memory:
    """One try more; a post keeps waiting with the words that it was meant to say."""
    waiting = memory.intended.get(event.key) or memory.queued.get(event.key)
    queued = {**memory.queued, event.key: waiting} if waiting and waiting.body else memory.queued
    tries = Tries(memory.attempt(event.key), event.at, event.why, event.interrupted)
    unsettled = memory.unsettled
    if unsettled and unsettled.key == event.key:
        unsettled = None
    return replace(
        memory,
        intended=_without(memory.intended, event.key),
        queued=queued,
        unsettled=unsettled,
        failed={**memory.failed, event.key: tries},
    )


def _without(intended: Mapping[str, Intended], key: str) -> dict[str, Intended]:
    return {name: value for name, value in intended.items() if name != key}


def as_json(value: Any) -> Mapping[str, Any]:
    """A value's plain form as a mapping, for an event that carries it."""
    form = plain(value)
    assert isinstance(form, dict)
    return form


__all__: Sequence[str] = (
    "VERSION",
    "BrokenJournal",
    "Line",
    "Memory",
    "chain",
    "event_id",
    "fold",
    "read_line",
    "read_lines",
    "write_line",
)
