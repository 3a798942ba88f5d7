"""Performs actions. `perform` is the only `match` that acts.

Each action has a key; it is journalled as intended before and as done or failed after. One that was
intended and has no outcome is settled by asking the scheduler, the issue or git, never by repeating
it blindly.
"""

from herorun.core.babysit.action_key import (
    INTERVENTIONS,
    STARTS,
    Verb,
    parse_key,
    verb_of,
    write_key,
)
from herorun.core.babysit.actions import Action, DeleteNode, Escalate, Relaunch, Stop, Tell
from herorun.core.errors import Blocked, HerorunError, describe_error
from herorun.core.event import Done, Failed, Intended
from herorun.core.lazy_dataclass import dataclass
from herorun.core.notify.escalation import QUESTION_WAYS, EscalationReason
from herorun.core.ports import Post
from herorun.core.recovery.backoff import backs_off
from herorun.core.recovery.decision import not_relaunched
from herorun.core.redaction.scrub import scrub
from herorun.operations.babysit.intents import entry_lines, intents
from herorun.operations.record.lease import take_in_time
from herorun.operations.record.post import deliver, journal_failure
from herorun.runs import MonitoredRun
from herorun.system import progress
from herorun.system.clock import now


@dataclass(frozen=True)
class ActionResult:
    """The result of an action; `why` is the error, or ""."""

    action: Action
    why: str = ""


def perform(run: MonitoredRun, action: Action) -> ActionResult:
    """Do one action once. A failure is journalled and returned as text; the tick continues."""
    memory = run.record.memory()
    if action.key in memory.done:
        return ActionResult(action)
    if action.key not in memory.intended:
        run.record.append(*intents(run, [action], now(), memory, {}))
    intent = run.record.memory().intended[action.key]
    try:
        match action:
            case Tell() | Escalate():
                deliver(run, intent)
                if not (progress.shows_ticks and parse_key(action.key).alert):
                    run.terminal.post(Post(action.key, intent.what, action.why))
            case Relaunch(_, instance, why):
                relaunch_once(run, intent, instance, why)
            case Stop(_, instance, why):
                confirm_lease(run, intent)
                stop_once(run, intent, instance, why)
            case DeleteNode():
                from herorun.operations.babysit.replace_node import delete_node

                confirm_lease(run, intent)
                delete_node(run, intent, action)
    except (HerorunError, OSError) as error:
        return ActionResult(action, scrub(describe_error(error)))
    return ActionResult(action)


def confirm_lease(run: MonitoredRun, intent: Intended) -> None:
    """Check the lease again right before an action that cannot be undone: the tick's own check may
    be minutes old.
    """
    with journal_failure(run, intent):
        take_in_time(run)


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
            question = Escalate(
                key=not_relaunched(instance, "gate"),
                title=f"{instance} is not relaunched",
                why=f"{why}. {describe_error(error)}",
                reason=EscalationReason.UNVERIFIED,
                ways=QUESTION_WAYS,
            )
            perform(run, question)
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
    with journal_failure(run, intent):
        run.scheduler.stop(instance, run.launcher.owner)
    run.record.append(build_stop_outcome(intent, instance, why))


def build_stop_outcome(intent: Intended, instance: str, why: str) -> Done:
    """The outcome of a stop, with its entry in the logbook."""
    lines = entry_lines(
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
                run.record.append(_find_launch_outcome(run, intent))
        except (HerorunError, OSError) as error:
            doubts.append(scrub(f"{key}: {describe_error(error)}"))
    return doubts


def rollback_key(instance: str, step: int | None) -> str:
    """The journal key of a rollback from an instance."""
    return write_key(Verb.ROLLBACK, instance, step)


def _find_launch_outcome(run: MonitoredRun, intent: Intended) -> Done | Failed:
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
