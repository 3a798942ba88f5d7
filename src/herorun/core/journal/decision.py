"""What a tick writes to the journal: a pure function of what it saw and of the state before."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.babysit.actions import Action, DeleteNode, Escalate, Relaunch, Stop, Tell
from herorun.core.babysit.tick import Tick
from herorun.core.canonical_json import digest
from herorun.core.event import CheckedIn, Decided
from herorun.core.evidence import ActionBlock, Evidence, Job, LateReceipts, Placement, Receipt
from herorun.core.journal import Memory
from herorun.core.notify.escalation import EscalationReason, Option
from herorun.core.notify.notifications import progress_of
from herorun.core.recovery.classify import Ending
from herorun.core.recovery.endings import end_to_record, saved_to_record, temporary_to_record


def interventions(actions: Iterable[Action]) -> tuple[str, ...]:
    """The keys of what would be done to the job or its machines."""
    return tuple(
        action.key for action in actions if isinstance(action, Relaunch | Stop | DeleteNode)
    )


def restrict_actions(actions: Sequence[Action], block: ActionBlock) -> list[Action]:
    """A babysitter that may not act still posts and asks, and never intervenes."""
    permitted_actions = [
        action for action in actions if block.free or isinstance(action, Tell | Escalate)
    ]
    if block.lost:
        key = write_key(Verb.ESCALATE, "lease", digest(block.lease)[7:19])
        permitted_actions.append(
            Escalate(
                key=key,
                title="the lease is lost",
                why=block.lease,
                reason=EscalationReason.UNVERIFIED,
                ways=(Option.TAKE,),
            )
        )
    return permitted_actions


def build_decision(
    tick: Tick, evidence: Evidence, memory: Memory, actions: Sequence[Action]
) -> Decided:
    """What the journal says of a tick."""
    return Decided(
        at=tick.at,
        run=tick.run.value,
        monitor=tick.monitor.value,
        progress=progress_of(evidence),
        alerts=(*tick.alerts.values(), *tick.ended),
        actions=tuple(action.key for action in actions),
        summary=_quiet_line(tick, evidence, memory),
        ended=end_to_record(evidence, memory.history, tick.at),
        saved=saved_to_record(evidence, memory.history),
        failure=_new_failure(tick, memory),
        job_started=_new_start(evidence, memory),
        awaited=tick.awaited,
        temporary=temporary_to_record(evidence, memory.history),
        placement=_new_placement(evidence, memory),
    )


def to_intend(actions: Iterable[Action], memory: Memory) -> list[Action]:
    """Those that are not done and not under way."""
    return [action for action in actions if action.key not in {*memory.done, *memory.intended}]


def reason_of(action: Action) -> tuple[str, str]:
    """What the journal's `Intended` says of an action, without the words that the contract adds:
    what, and why.
    """
    match action:
        case Tell(_, title, why) | Escalate(key=_, title=title, why=why):
            return title, why
        case Relaunch(_, instance, why):
            return f"relaunch after {instance}: {why}", ""
        case Stop(_, instance, why):
            return f"stop {instance}: {why}", ""
        case DeleteNode(_, instance, _, worker, zone):
            return f"delete the machine of worker {worker} of {instance} in {zone}", ""


def checked_in(tick: Tick, evidence: Evidence, memory: Memory) -> list[CheckedIn]:
    """The first check-in of an instance, that of each attempt that its back end starts later, and
    those of earlier instances whose receipts came late. A late refusal stays open instead.
    """
    receipt, late = evidence.get(Receipt), evidence.get(LateReceipts)
    newest_attempt = max((attempt for _, attempt in memory.starts), default=None)
    earlier = late.receipts if isinstance(late, LateReceipts) else ()
    news = [each for each in earlier if each.outcome == "pass"]
    if isinstance(receipt, Receipt) and (
        receipt.instance not in memory.checked_in
        or (newest_attempt is not None and receipt.attempt > newest_attempt)
    ):
        news.append(receipt)
    return [_check_in(each, tick.at) for each in news]


def _check_in(receipt: Receipt, at: datetime) -> CheckedIn:
    return CheckedIn(
        at=at,
        instance=receipt.instance,
        attempt=receipt.attempt,
        outcome=receipt.outcome,
        items=receipt.items,
        loaded=receipt.loaded,
        written=receipt.at,
    )


def _quiet_line(tick: Tick, evidence: Evidence, memory: Memory) -> str:
    """At most one line in `quiet_every` while nothing happens; a tick that says something else
    needs none.
    """
    since = memory.last_summary or (memory.current.started if memory.current else None)
    if tick.actions or tick.alerts or since is None or tick.at - since < tick.quiet_every:
        return ""
    return f"{progress_of(evidence)}, nothing to report since {since:%Y-%m-%d %H:%M} UTC"


def _new_failure(tick: Tick, memory: Memory) -> Ending | None:
    """How the instance failed, unless the record says the same already."""
    ending = tick.ending
    recorded_ending = memory.endings.get(ending.instance) if ending else None
    if ending is None or (
        recorded_ending and replace(recorded_ending, ended=ending.ended) == ending
    ):
        return None
    return ending


def _new_start(evidence: Evidence, memory: Memory) -> datetime | None:
    """When the job left the queue, unless the record says the same already."""
    job, current = evidence.get(Job), memory.current
    if not isinstance(job, Job) or current is None or job.instance != current.name:
        return None
    return job.started if job.started != memory.job_started.get(current.name) else None


def _new_placement(evidence: Evidence, memory: Memory) -> Placement | None:
    """All nodes and images of the instance so far, if the record does not hold them yet."""
    job, current = evidence.get(Job), memory.current
    if not isinstance(job, Job) or current is None or job.instance != current.name:
        return None
    recorded_placement = memory.placements.get(current.name, Placement())
    placement = job.placement.join(recorded_placement) if job.placement else recorded_placement
    return placement if placement != recorded_placement else None
