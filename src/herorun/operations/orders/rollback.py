"""Rollback: the same run, identity and roots, from an earlier checkpoint that a person names.

Checkpoints above that step stay where they are. The record rules them out, so that no later
relaunch picks one.
"""

from herorun.core.babysit.action_key import Verb, verb_of
from herorun.core.durations import format_duration
from herorun.core.errors import Blocked
from herorun.core.event import Done, Intended, Word
from herorun.core.notify.escalation import Option
from herorun.operations.babysit.perform import rollback_key
from herorun.operations.health.replaced_instance import record_before_replacing
from herorun.operations.health.taints import with_taints_now
from herorun.operations.launch.propose import Proposer, reason_option
from herorun.operations.launch.relaunch import Successor, must_be_resumable, start_again
from herorun.operations.launch.rollback_target import RollbackPreview, choose
from herorun.operations.launch.submit import ShowRequest, ignore_request
from herorun.operations.orders.order import (
    OrderOutcome,
    intended_once,
    just_ordered,
    memory_for_orders,
    order,
    person,
)
from herorun.operations.orders.relaunch import answer_repetition, with_monitor
from herorun.operations.orders.stop import find_job, settle_instance, stop_and_wait
from herorun.operations.record.post import journal_failure
from herorun.runs import Run
from herorun.system.clock import now
from herorun.system.files import hold_lock


def rollback(
    run: Run,
    step: int,
    reason: str = "",
    *,
    stop_first: bool = False,
    wait: float = 120.0,
    babysit: bool = True,
    dry: bool = False,
    show_request: ShowRequest = ignore_request,
) -> OrderOutcome:
    """Print what the rollback discards, then record the order and start the instance, each once.
    `dry` only prints.
    """
    run.prepare()
    with hold_lock(run.lock("act"), what="another herorun that acts on this run"):
        before = memory_for_orders(run)
        is_pending = before.unsettled is not None or any(
            verb_of(key) == Verb.ROLLBACK for key in before.intended
        )
        name = settle_instance(run)
        earlier = _done_already(run, name, step, reason, is_pending)
        if earlier:
            message, code = answer_repetition(run, name, earlier)
        else:
            message, code = (
                _go_back(
                    run=run,
                    name=name,
                    step=step,
                    reason=reason,
                    stop_first=stop_first,
                    wait=wait,
                    dry=dry,
                    show_request=show_request,
                ),
                0,
            )
    if dry and not earlier:
        return OrderOutcome(run, message)
    return with_monitor(run, message, babysit, code)


def _done_already(run: Run, name: str, step: int, reason: str, is_pending: bool) -> str:
    """How this order was carried out already; "" if there is something to do."""
    launching = run.record.memory().launchings[name]
    back, origin = launching.given_up, launching.relaunch_of
    if back is None or back.step != step:
        return ""
    if is_pending or just_ordered(run, Word.ROLLBACK, _about(origin, step), reason):
        return f"from step {step}, in place of {origin}"
    return ""


def _about(name: str, step: int) -> tuple[str, ...]:
    return name, rollback_key(name, step)


def _go_back(
    run: Run,
    name: str,
    step: int,
    *,
    reason: str,
    stop_first: bool,
    wait: float,
    dry: bool,
    show_request: ShowRequest,
) -> str:
    """Roll back. The target is examined first, so that no job is stopped for a checkpoint that
    cannot be resumed from.
    """
    must_be_resumable(run)
    back = _choose_rollback(run, name, step, reason)
    show_request("\n".join(f"  {fact}: {value}" for fact, value in back.facts.items()))
    if dry:
        return (
            f"nothing was done: `herorun rollback {run.slug} --to {step} --stop-first"
            f"{reason_option(reason)}` stops {name} if it runs, and goes back to step {step}"
        )
    job = find_job(run, name)
    if job is not None and not job.state.is_final:
        if not stop_first:
            memory = with_taints_now(run, run.record.memory())
            proposer = Proposer(run, memory, reason=reason)
            (way,) = proposer.proposals((Option.STOP_AND_ROLLBACK,), before=step + 1)
            raise Blocked(
                f"{name} is still {job.state}, and two writers in one root mix their steps: "
                f"`{way.command}` ({way.effect})."
            )
        stop_and_wait(run, name, reason, wait)
        back = _choose_rollback(run, name, step, reason)  # the stopped job may have saved once more
    record_before_replacing(run)
    _order(run, name, step, reason)
    key = rollback_key(name, step)
    intent = intended_once(
        run, key, f"rollback of {name} to step {step}{f': {reason}' if reason else ''}"
    )
    new_name = _start_once(run, intent, back, reason)
    return f"{new_name} was submitted in place of {name}, to continue from {back.target.path}"


def _choose_rollback(run: Run, name: str, step: int, reason: str) -> RollbackPreview:
    return choose(run, name, step, reason, with_taints_now(run, run.record.memory()))


def _order(run: Run, name: str, step: int, reason: str) -> None:
    standing_order = run.record.memory().rollback_ordered
    if standing_order is None or standing_order.about != _about(name, step):
        order(run, Word.ROLLBACK, _about(name, step), reason)


def _start_once(run: Run, intent: Intended, back: RollbackPreview, reason: str) -> str:
    why = f"rollback after {back.instance} to step {back.target.step}, ordered by {person(run)}"
    watcher = f"{run.launcher.owner}, every {format_duration(run.contract.babysit.cadence)}"
    why = f"{why}{f': {reason}' if reason else ''}"
    again = Successor(back.instance, why, watcher, back.given_up(reason), back.facts)
    with journal_failure(run, intent):
        new_name = start_again(run, back.plan, again)
    run.record.append(Done(now(), intent.key, intent.attempt, result=new_name))
    return new_name
