"""Relaunches a job by order. A relaunch follows only a confirmed end."""

from collections.abc import Mapping

from herorun.core.babysit.action_key import STARTS, Verb, verb_of, write_key
from herorun.core.babysit.tick import MonitorHealth
from herorun.core.errors import Blocked
from herorun.core.event import Word
from herorun.core.evidence import JobState
from herorun.core.health.run_health import RunHealth
from herorun.core.journal import Memory
from herorun.core.journal.launch_intents import plan_value
from herorun.core.notify.escalation import Option, ProposedCommand
from herorun.core.recovery.classify import Cause
from herorun.operations.babysit.perform import relaunch_once
from herorun.operations.health.evaluate import evaluate
from herorun.operations.health.replaced_instance import record_before_replacing
from herorun.operations.health.taints import with_taints_now
from herorun.operations.launch.launch import start_watch
from herorun.operations.launch.propose import Proposer
from herorun.operations.orders.order import (
    OrderOutcome,
    intended_once,
    just_ordered,
    memory_for_orders,
    order,
    ordered_before,
    person,
    push_warning,
)
from herorun.operations.orders.stop import find_job, settle_instance, stop_and_wait
from herorun.runs import Run
from herorun.system.files import hold_lock


def with_monitor(run: Run, message: str, babysit: bool, code: int = 0) -> OrderOutcome:
    """Start the monitoring after an order that started an instance; the message says what monitors
    it, or that nothing does. `code` is the exit code if the monitoring is as wanted.
    """
    watcher, watch_problem = start_watch(run, babysit)
    warnings = (*push_warning(run), *((watch_problem,) if watch_problem else ()))
    return OrderOutcome(
        run, f"{message}; babysitter: {watcher}", code or (3 if watch_problem else 0), warnings
    )


def relaunch_by_hand(
    run: Run, stop_first: bool = False, reason: str = "", wait: float = 120.0, babysit: bool = True
) -> OrderOutcome:
    """Relaunch through the launch gate, as the babysitter would, by a person's order."""
    run.prepare()
    with hold_lock(run.lock("act"), what="another herorun that acts on this run"):
        before = memory_for_orders(run)
        is_pending = before.unsettled is not None or any(
            verb_of(k) in STARTS for k in before.intended
        )
        name = settle_instance(run)
        memory = run.record.memory()
        origin = memory.launchings[name].relaunch_of
        # only if this order started it: after a refused order, a rollback may have started the
        # current instance
        ours = memory.done.get(write_key(Verb.RELAUNCH, origin)) == name
        if origin and (
            is_pending or (ours and just_ordered(run, Word.RELAUNCH, (origin,), reason))
        ):
            message, code = answer_repetition(run, name, f"in place of {origin}")
        else:
            message, code = _relaunch(run, name, stop_first, reason, wait), 0
    return with_monitor(run, message, babysit, code)


def answer_repetition(run: Run, name: str, how: str) -> tuple[str, int]:
    """The message and the exit code of an order that has started this instance already. If it is
    down since, the order changes nothing, so its success must not be reported again.
    """
    job = find_job(run, name)
    if job is not None and not job.state.is_final:
        return f"{name} was submitted already, {how}", 0
    past = f"nothing new was submitted: this order already started {name}, {how}, and"
    if job is not None and job.state is JobState.SUCCEEDED and _is_finished(run):
        return f"{past} {name} has finished since: `herorun status {run.slug}`", 0
    (way,) = _propose_commands(run, Option.RELAUNCH, "WHY")  # another reason is another order
    reason = ", with your reason for WHY" if " WHY" in way.command else ""
    return (
        f"{past} {job.ending if job else f'{name} has ended'}. First look for the cause: "
        f"`herorun triage {run.slug}`. Then{reason}: `{way.command}` ({way.effect})"
    ), 1


def _is_finished(run: Run) -> bool:
    """Whether all evidence shows it, for which the scheduler's word alone is not enough."""
    result = evaluate(run)[0]
    return result.run is RunHealth.FINISHED and result.monitor is MonitorHealth.FRESH


def _relaunch(run: Run, name: str, stop_first: bool, reason: str, wait: float) -> str:
    job = find_job(run, name)
    if job is not None and not job.state.is_final:
        if not stop_first:
            (way,) = _propose_commands(run, Option.STOP_AND_RELAUNCH, reason)
            raise Blocked(
                f"{name} is still {job.state}: `{way.command}` ({way.effect}), or leave it."
            )
        stop_and_wait(run, name, reason, wait)
    record_before_replacing(run)
    _may_be_relaunched(run, name, reason)
    if not ordered_before(run, Word.RELAUNCH, name) or run.record.memory().rollback_ordered:
        order(run, Word.RELAUNCH, [name], reason)
    why = f"ordered by {person(run)}{f': {reason}' if reason else ''}"
    key = write_key(Verb.RELAUNCH, name)
    relaunch_once(
        run, intended_once(run, key, f"relaunch after {name}: {why}"), name, why, ask=False
    )
    memory = run.record.memory()
    new_name = memory.done[key]
    return f"{new_name} was submitted in place of {name}{_start_of(memory, new_name)}"


def _start_of(memory: Memory, name: str) -> str:
    """The checkpoint that the instance was submitted with; empty if its plan names none."""
    launching = memory.launchings.get(name)
    start = plan_value(launching.plan, "start") if launching else None
    return f", to continue from {start['path']}" if isinstance(start, Mapping) else ""


def _may_be_relaunched(run: Run, name: str, reason: str) -> None:
    ending = run.record.memory().endings.get(name)
    if ending and ending.cause is Cause.NUMERIC:
        (way,) = _propose_commands(run, Option.ROLLBACK, reason)
        raise Blocked(
            f"{name} ended with a numeric failure, which is never relaunched. The DRI, {run.dri}, "
            f"decides. To go back: `{way.command}` ({way.effect})."
        )


def _propose_commands(run: Run, way: Option, reason: str) -> tuple[ProposedCommand, ...]:
    memory = with_taints_now(run, run.record.memory())
    return Proposer(run, memory, reason=reason).proposals((way,))
