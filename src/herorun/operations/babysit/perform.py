"""Performs actions. `perform` is the only `match` that acts.

Each action has a key; it is journalled as intended before and as done or failed after. One that was
intended and has no outcome is settled by asking the scheduler, the issue or git, never by repeating
it blindly.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from herorun import discover
from herorun.core.babysit.action_key import (
    INTERVENTIONS,
    STARTS,
    Verb,
    parse_key,
    verb_of,
    write_key,
)
from herorun.core.babysit.actions import Action, DeleteNode, Escalate, Relaunch, Stop, Tell
from herorun.core.check import Gate
from herorun.core.errors import Blocked, HerorunError, describe_error
from herorun.core.event import Done, Failed, Intended
from herorun.core.evidence import Evidence, Metrics
from herorun.core.journal import Memory
from herorun.core.journal.decision import reason_of
from herorun.core.lazy_dataclass import dataclass
from herorun.core.markdown import addressed, quoted, without_markup
from herorun.core.notify.escalation import QUESTION_WAYS, EscalationReason, Option
from herorun.core.notify.notifications import is_digest
from herorun.core.notify.page_routes import takers
from herorun.core.notify.paging import urgency
from herorun.core.ports import Post
from herorun.core.recovery.backoff import backs_off
from herorun.core.recovery.decision import not_relaunched
from herorun.core.redaction.scrub import scrub
from herorun.operations.record.lease import take_in_time
from herorun.operations.record.post import deliver, post_intent
from herorun.runs import MonitoredRun, Run
from herorun.system.clock import now

if TYPE_CHECKING:
    from herorun.operations.launch.propose import Proposer


@dataclass(frozen=True)
class Performed:
    """The result of an action; `why` is the error, or ""."""

    action: Action
    why: str = ""


def intents(
    run: MonitoredRun, actions: Sequence[Action], at: datetime, memory: Memory, evidence: Evidence
) -> list[Intended]:
    """Intents to journal with the decision, which `memory` already includes."""
    proposer = _proposer(run, memory, evidence) if actions else None
    return [_intent(run, action, at, proposer) for action in actions]


def _proposer(run: MonitoredRun, memory: Memory, evidence: Evidence) -> "Proposer | None":
    """Proposes commands for questions. It gets the metrics of this tick: if it read rows itself,
    the next tick would miss the excursions that ended in them.
    """
    if not isinstance(run, Run):
        return None
    from herorun.operations.launch.propose import Proposer

    rows = {Metrics: evidence[Metrics]} if Metrics in evidence else {}
    return Proposer(run, memory, rows)


def _intent(
    run: MonitoredRun, action: Action, at: datetime, proposer: "Proposer | None"
) -> Intended:
    """The intent of an action; with a channel besides the issue, it also has the page's urgency."""
    checks = (
        {check.name: check for check in discover.checks(Gate.HEALTH)} if run.channels.all else {}
    )
    page_urgency = urgency(action, checks) if run.channels.all else None
    if page_urgency and not takers(page_urgency, run.contract.notify):
        page_urgency = None  # the issue is enough
    return replace(_intend_action(run, action, at, proposer), page=page_urgency or "")


def _options(run: MonitoredRun, question: Escalate, proposer: "Proposer | None") -> str:
    if proposer is None:
        return run.answers(question.ways, question.about)
    relaunch = parse_key(question.key).relaunch_question is not None
    return proposer.markdown(question.ways, question.about, question.before, relaunch)


def _note_of(about: str, proposer: "Proposer | None") -> str:
    """The command that acknowledges an alert; empty if there is none, as for a job without a
    contract.
    """
    if not about or proposer is None:
        return ""
    command = proposer.markdown((Option.ACK,), about)
    return f"\n\nAcknowledge it once a person has looked at it:\n\n{command}"


def _intend_action(
    run: MonitoredRun, action: Action, at: datetime, proposer: "Proposer | None"
) -> Intended:
    match action:
        case Tell(key, title, why, edits, own_comment, about):
            intent = post_intent(
                run=run,
                key=key,
                title=title,
                why=f"{without_markup(why)}{_note_of(about, proposer)}",
                lines=_entry_lines(title, why, "notify", "continue"),
                at=at,
                edits=edits,
                own_comment=own_comment,
            )
            if not is_digest(key):
                return intent
            from herorun.operations.babysit.digest_charts import with_pictures

            return with_pictures(run, intent)
        case Escalate(key=key, title=title, why=why, edits=edits, reason=reason):
            return post_intent(
                run=run,
                key=key,
                title=f"Escalation: {title}",
                why=f"{without_markup(why)}\n\n{_question(run, action, proposer)}",
                lines=_entry_lines(title, why, f"ask {run.dri}: {reason}", "a person decides"),
                at=at,
                edits=edits,
            )
        case Relaunch() | Stop() | DeleteNode():
            return Intended(
                at=at,
                key=action.key,
                attempt=run.record.memory().attempt(action.key),
                what=reason_of(action)[0],
            )


def _entry_lines(status: str, evidence: str, decision: str, following: str) -> dict[str, str]:
    """The lines of an action's entry in the logbook."""
    return {"Status": status, "Evidence": evidence, "Decision": decision, "Next": following}


def _question(run: MonitoredRun, action: Escalate, proposer: "Proposer | None") -> str:
    """The question to the responsible person, with the commands that answer it."""
    stop_when = run.contract.stop_when
    stop = f" The contract says when to stop: {quoted(stop_when)}" if stop_when else ""
    return (
        f"{addressed(run.contract.dri or run.launcher.user or 'unknown')}: your decision "
        f"is needed ({action.reason}).{stop}\n\n{_options(run, action, proposer)}"
    )


def perform(run: MonitoredRun, action: Action) -> Performed:
    """Do one action once. A failure is journalled and returned as text; the tick continues."""
    memory = run.record.memory()
    if action.key in memory.done:
        return Performed(action)
    if action.key not in memory.intended:
        run.record.append(_intent(run, action, now(), _proposer(run, memory, {})))
    intent = run.record.memory().intended[action.key]
    try:
        match action:
            case Tell() | Escalate():
                deliver(run, intent)
                run.terminal.post(Post(action.key, intent.what, action.why))
            case Relaunch(_, instance, why):
                relaunch_once(run, intent, instance, why)
            case Stop(_, instance, why):
                owned(run, intent)
                stop_once(run, intent, instance, why)
            case DeleteNode():
                from herorun.operations.babysit.replace_node import delete_node

                owned(run, intent)
                delete_node(run, intent, action)
    except (HerorunError, OSError) as error:
        return Performed(action, scrub(describe_error(error)))
    return Performed(action)


def owned(run: MonitoredRun, intent: Intended) -> None:
    """Check the lease again right before an action that cannot be undone: the tick's own check may
    be minutes old.
    """
    try:
        take_in_time(run)
    except (HerorunError, OSError) as error:
        run.record.append(Failed(now(), intent.key, intent.attempt, describe_error(error)))
        raise


def relaunch_once(
    run: MonitoredRun, intent: Intended, instance: str, why: str, ask: bool = True
) -> None:
    """Relaunch through the launch gate; a refusal asks a person, unless it was their own order."""
    from herorun.operations.launch.relaunch import relaunch

    try:
        next_instance = relaunch(run, instance, why, by_itself=ask)
    except (HerorunError, OSError) as error:
        if not _was_begun(run, instance):
            run.record.append(Failed(now(), intent.key, intent.attempt, describe_error(error)))
        if ask and isinstance(error, Blocked):
            title = f"{instance} is not relaunched"
            reason = f"{why}. {describe_error(error)}"
            key = not_relaunched(instance, "gate")
            perform(
                run,
                Escalate(
                    key=key,
                    title=title,
                    why=reason,
                    reason=EscalationReason.UNVERIFIED,
                    ways=QUESTION_WAYS,
                ),
            )
        raise
    run.record.append(Done(now(), intent.key, intent.attempt, result=next_instance))


def _was_begun(run: MonitoredRun, instance: str) -> bool:
    """Whether an instance was relaunched, or may have been: then the relaunch has not failed, and
    the next tick settles it.
    """
    memory = run.record.memory()
    names = [one.name for one in memory.instances]
    # a job without a contract has none
    launchings = [memory.launchings[name] for name in names if name in memory.launchings]
    launchings += [memory.unsettled] if memory.unsettled else []
    return any(launching.relaunch_of == instance for launching in launchings)


def stop_once(run: MonitoredRun, intent: Intended, instance: str, why: str) -> None:
    """Ask the scheduler to stop it; the end is confirmed by a later tick."""
    try:
        run.scheduler.stop(instance, run.launcher.owner)
    except (HerorunError, OSError) as error:
        run.record.append(Failed(now(), intent.key, intent.attempt, describe_error(error)))
        raise
    run.record.append(stopped(intent, instance, why))


def stopped(intent: Intended, instance: str, why: str) -> Done:
    """The outcome of a stop, with its entry in the logbook."""
    lines = _entry_lines(
        f"the scheduler was asked to stop {instance}", why, "stop", "confirm the end"
    )
    return Done(now(), intent.key, intent.attempt, f"{instance} stopped", lines)


def settle(run: MonitoredRun, is_certain: bool = True) -> list[str]:
    """Find out whether each action without an outcome was done; return what stays unknown.

    A post that is not in the issue is posted. A relaunch or rollback is done if its instance was
    launched; otherwise it is marked as interrupted, like a stop, so that it is decided again.
    Without `is_certain` (it is known what was submitted) they stay unfinished.
    """
    doubts = []
    memory = run.record.memory()
    for key, intent in {**memory.queued, **memory.intended}.items():
        if key in memory.queued and not _is_retry_due(run, key):
            continue
        try:
            if intent.body:
                deliver(run, intent)
            elif is_certain and verb_of(key) in INTERVENTIONS | STARTS:
                run.record.append(_settled(run, intent))
        except (HerorunError, OSError) as error:
            doubts.append(scrub(f"{key}: {describe_error(error)}"))
    return doubts


def rollback_key(instance: str, step: int | None) -> str:
    """The journal key of a rollback from an instance."""
    return write_key(Verb.ROLLBACK, instance, step)


def _settled(run: MonitoredRun, intent: Intended) -> Done | Failed:
    memory = run.record.memory()
    for instance in memory.instances:
        launching = memory.launchings.get(instance.name)
        if launching is None:
            continue  # a job without a contract: its command is never run twice for one end
        back = launching.given_up
        if intent.key in (
            write_key(Verb.RELAUNCH, launching.relaunch_of),
            rollback_key(launching.relaunch_of, back.step if back else None),
        ):
            return Done(now(), intent.key, intent.attempt, result=instance.name)
    why = "herorun was interrupted; the next tick decides again"
    return Failed(now(), intent.key, intent.attempt, why, interrupted=True)


def _is_retry_due(run: MonitoredRun, key: str) -> bool:
    return not backs_off(run.record.memory().failed[key], run.contract.babysit.cadence, now())
