"""Folding the journal: what each event does to the memory. A change here raises `FOLD` in
`core.journal.snapshot`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from herorun.core.babysit.action_key import parse_key
from herorun.core.babysit.alert import AlertState
from herorun.core.babysit.past_alerts import remember
from herorun.core.event import (
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
from herorun.core.evidence import Instance, with_misdated
from herorun.core.journal.launch_intents import plan_value, start_step
from herorun.core.journal.state import Memory
from herorun.core.record.lease import Lease, follows
from herorun.core.recovery.classify import Cause
from herorun.core.recovery.policy import ActionPause, FailedAttempts, RelaunchAnswer
from herorun.core.seal.kinds import SealKind
from herorun.core.taint import apply_decision, apply_launch, set_right

MAX_STARTS = 20


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
            # a record begins once: a later line moves neither logbook nor issue
            return memory if memory.initialised else replace(memory, initialised=event)
        case Launching():
            return _apply_launching(memory, event)
        case Launched():
            return _apply_launched(memory, event)
        case CheckedIn():
            return _apply_checked_in(memory, event)
        case Observed():
            judge = memory.judge.after_tick(event.version)
            return replace(memory, judge=judge, rows=event.rows or memory.rows)
        case Replayed():
            return replace(memory, judge=memory.judge.after_replay(event))
        case Decided():
            return _apply_decided(memory, event)
        case Intended():
            return replace(memory, intended={**memory.intended, event.key: event})
        case Done():
            return _apply_done(memory, event)
        case Failed():
            return _apply_failed(memory, event)
        case Noted() if event.caveat:
            return replace(memory, caveats=(*memory.caveats, event.caveat))
        case Ordered():
            return _apply_ordered(memory, event)
        case HandedOff():
            return replace(memory, handed=event)
        case Leased():
            lease = Lease(event.owner, event.slug, event.fence, event.beat, event.clone)
            return replace(memory, lease=lease) if follows(lease, memory.lease) else memory
        case Sealed():
            return _apply_sealed(memory, event)
        case Newer():
            return replace(memory, newer=True)
        case _:
            return memory


def _apply_launching(memory: Memory, event: Launching) -> Memory:
    if event.instance in memory.launchings:
        # another clone was first with this instance, and the later intent was given up
        return memory
    launchings = {**memory.launchings, event.instance: event}
    leaps = memory.leaps.advance(event.at)
    return replace(memory, launchings=launchings, unsettled=event, leaps=leaps)


def _apply_checked_in(memory: Memory, event: CheckedIn) -> Memory:
    """The starts and restarts are those of the current instance alone."""
    checked_in = memory.checked_in | {event.instance}
    if memory.current is None or memory.current.name != event.instance:
        return replace(memory, checked_in=checked_in)
    restarts = memory.restarts
    if event.attempt > 1 and event.written:
        restarts = (*restarts, (event.written, event.attempt))[-MAX_STARTS:]
    starts = (*memory.starts, (event.at, event.attempt))[-MAX_STARTS:]
    return replace(memory, checked_in=checked_in, starts=starts, restarts=restarts)


def _set_right(memory: Memory, at: datetime) -> Memory:
    """What a clock that was ahead has dated, once a decision of this moment shows that it was."""
    before = memory.leaps.last_right(at)
    if before is None:
        return memory
    return replace(
        memory,
        instances=with_misdated(memory.instances, memory.leaps, at),
        given_up=tuple(replace(each, at=min(each.at, at)) for each in memory.given_up),
        health=set_right(memory.health, before, at),
    )


def _apply_decided(memory: Memory, event: Decided) -> Memory:
    memory = _set_right(memory, event.at)
    open_alerts = {
        a.id: a for a in event.alerts if a.state in (AlertState.PENDING, AlertState.FIRING)
    }
    resolved_keys = {a.key for a in event.alerts if a.state is AlertState.RESOLVED}
    ended_alerts = {key: alert for key, alert in memory.ended.items() if key not in resolved_keys}
    ended_alerts |= {a.key: a for a in event.alerts if a.state is AlertState.ENDED}
    last_summary = event.at if event.summary else memory.last_summary
    health = apply_decision(memory.health, event)
    ends = {**memory.ends, event.ended.instance: event.ended} if event.ended else memory.ends
    most = max(memory.most_saved, event.saved or 0)
    failures = {event.failure.instance: event.failure} if event.failure else {}
    began = {memory.current.name: event.job_started} if memory.current and event.job_started else {}
    placements = (
        {memory.current.name: event.placement} if memory.current and event.placement else {}
    )
    return replace(
        memory,
        leaps=memory.leaps.advance(event.at),
        alerts=open_alerts,
        past=remember(
            memory.past,
            (a for a in event.alerts if a.state in (AlertState.RESOLVED, AlertState.ENDED)),
        ),
        left_alerts=(),
        ended=ended_alerts,
        last_decided=memory.last_decided if event.by_order else event,
        ticks=memory.ticks + (not event.by_order),
        last_seen=event.at if event.saw_run else memory.last_seen,
        last_summary=last_summary,
        health=health,
        ends=ends,
        most_saved=most,
        temporary_saved=memory.temporary_saved if event.temporary is None else event.temporary,
        endings={**memory.endings, **failures},
        job_started={**memory.job_started, **began},
        placements={**memory.placements, **placements},
        rows=event.rows or memory.rows,
    )


def _apply_launched(memory: Memory, event: Launched) -> Memory:
    launching = memory.launchings.get(event.instance)
    instance = _launched_instance(memory, event, launching)
    new_caveats = [_describe_unverified_job(event)] if launching and launching.adopts else []
    ending = memory.endings.get(event.relaunch_of)
    cause = ending.cause if ending else Cause.UNKNOWN
    counts = bool(event.relaunch_of) and not cause.free
    relaunch_times = (*memory.relaunched, event.at) if counts else memory.relaunched
    start = (plan_value(launching.plan, "start") if launching else None) or {}
    return replace(
        memory,
        instances=(*memory.instances, instance),
        temporary_saved=None,
        starts=(),
        restarts=(),
        unsettled=None,
        relaunched=relaunch_times,
        relaunch_causes=(*memory.relaunch_causes, (event.at, cause))
        if counts
        else memory.relaunch_causes,
        alerts={},  # a new instance begins without any
        past=remember(memory.past, memory.alerts.values()),
        left_alerts=(
            *memory.left_alerts,
            *(alert for alert in memory.alerts.values() if alert.firing),
        ),
        given_up=(
            *memory.given_up,
            *([launching.given_up] if launching and launching.given_up else []),
        ),
        health=apply_launch(
            memory.health, launching.at if launching else event.at, start.get("step") or 0
        ),
        caveats=(*memory.caveats, *new_caveats),
    )


def _launched_instance(memory: Memory, event: Launched, launching: Launching | None) -> Instance:
    """`launching` is its intent; None in a record that begins after that."""
    return Instance(
        name=event.instance,
        number=event.number,
        job=event.job,
        plan_digest=event.plan_digest,
        output_root=event.output_root,
        started=event.at,
        commit=event.commit,
        babysitter=event.babysitter,
        temporary_root=plan_value(launching.plan, "temporary_root") if launching else None,
        intended=((launching.adopts and launching.adopts.since) or launching.at)
        if launching
        else None,
        start=start_step(launching) if launching and not launching.adopts else None,
        rows=memory.rows,
        counted=_are_rows_known(memory),
    )


def _are_rows_known(memory: Memory) -> bool:
    """Whether `memory.rows` are all that the instances so far wrote: rows were read when the last
    one's end was seen.
    """
    end = memory.ends.get(memory.current.name) if memory.current else None
    return end is not None and end.step is not None


def _describe_unverified_job(event: Launched) -> str:
    """What the seal must say of an adopted instance, whatever came after it."""
    return (
        f"{event.instance} is job {event.job}, which herorun adopted and did not submit: "
        "what it ran was not compared with the plan"
    )


def _apply_ordered(memory: Memory, event: Ordered) -> Memory:
    memory = replace(memory, orders=(*memory.orders, event))
    match event.word:
        case Word.ACK:
            return replace(memory, acked={**memory.acked, **dict.fromkeys(event.about, event)})
        case Word.APPROVE | Word.DENY:
            answer = RelaunchAnswer(event.word is Word.APPROVE, event.at, event.by, event.reason)
            judge = memory.judge.with_answer(
                [key for key in event.about if parse_key(key).judged_version], answer
            )
            questions = [parse_key(key).relaunch_question for key in event.about]
            answers = {question[0]: answer for question in questions if question}
            # no command approves what was denied: an approval from another clone was made
            # without the denial
            denials = {name: no for name, no in memory.answers.items() if not no.yes}
            return replace(memory, answers={**memory.answers, **answers, **denials}, judge=judge)
        case Word.PAUSE if event.until is not None:
            return replace(memory, pause=ActionPause(event.until, event.by, event.at, event.reason))
        case Word.RESUME:
            return replace(memory, pause=None)
        case _:
            return memory


def _apply_done(memory: Memory, event: Done) -> Memory:
    return replace(
        memory,
        intended=_without(memory.intended, event.key),
        queued=_without(memory.queued, event.key),
        done={**memory.done, event.key: event.result},
    )


def _apply_failed(memory: Memory, event: Failed) -> Memory:
    """One try more; a post keeps waiting with the words that it was meant to say."""
    intent = memory.intended.get(event.key) or memory.queued.get(event.key)
    queue = {**memory.queued, event.key: intent} if intent and intent.body else memory.queued
    tries = FailedAttempts(memory.attempt(event.key), event.at, event.why, event.interrupted)
    open_launch = memory.unsettled
    if open_launch and open_launch.key == event.key:
        open_launch = None
    return replace(
        memory,
        intended=_without(memory.intended, event.key),
        queued=queue,
        unsettled=open_launch,
        failed={**memory.failed, event.key: tries},
    )


def _apply_sealed(memory: Memory, event: Sealed) -> Memory:
    if event.ending == SealKind.MILESTONE:
        return replace(memory, milestones=(*memory.milestones, event))
    return replace(memory, sealed=event, lease=None)  # a run that is over needs no owner


def _without(intents: Mapping[str, Intended], key: str) -> dict[str, Intended]:
    return {name: value for name, value in intents.items() if name != key}
