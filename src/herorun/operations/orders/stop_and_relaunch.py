"""Stops and relaunches a job by order. A relaunch follows only a confirmed end."""

import time
from collections.abc import Mapping
from dataclasses import replace

from herorun.core.babysit.action_key import STARTS, Verb, verb_of, write_key
from herorun.core.durations import format_span
from herorun.core.errors import Blocked, CouldNotLook, sentence
from herorun.core.event import Intended, Word
from herorun.core.evidence import Job, JobState
from herorun.core.journal import Memory
from herorun.core.journal.launch_intents import plan_value
from herorun.core.notify.escalation import Option, ProposedCommand
from herorun.core.ports import Found, Unknown
from herorun.core.recovery.classify import Cause
from herorun.operations.babysit.perform import relaunch_once, settle, stop_once, stopped
from herorun.operations.health.evaluate import must_be_launched
from herorun.operations.health.replaced_instance import (
    record_before_replacing,
    record_forgotten_end,
)
from herorun.operations.health.taints import with_taints_now
from herorun.operations.launch.launch import start_watch
from herorun.operations.launch.propose import Proposer
from herorun.operations.launch.start_instance import settle_launching
from herorun.operations.orders.acknowledge import open_questions
from herorun.operations.orders.forgotten_job import (
    CAUTION,
    give_up_forgotten_launch,
    must_be_silent,
    must_have_ended,
)
from herorun.operations.orders.order import (
    OrderOutcome,
    memory_for_orders,
    order,
    person,
    push_warning,
)
from herorun.runs import MonitoredRun, Run
from herorun.system.clock import now
from herorun.system.files import locked

# seconds that a job gets to heed a stop, before the same order tells it once more
STOP_GRACE = 10.0


def stop(run: Run, reason: str = "", wait: float = 120.0) -> OrderOutcome:
    """Stop the current instance through its scheduler, and wait so many seconds for the end."""
    run.prepare()
    with locked(run.lock("act"), what="another herorun that acts on this run"):
        undo = f"`herorun status {run.slug}` shows how to start it again"
        if not_submitted := give_up_forgotten_launch(run, reason):
            return OrderOutcome(run, f"{not_submitted}. {undo}", warnings=push_warning(run))
        name = settled(run)
        is_forgotten = find_job(run, name, may_be_forgotten=True) is None
        if is_forgotten:
            must_have_ended(run, name)
            must_be_silent(run, name)
        outcome = stop_and_wait(run, name, reason, wait, is_forgotten)
        if is_forgotten:
            record_forgotten_end(run, name)
            note = f"The record counts it as ended: {CAUTION}"
            outcome = replace(outcome, message=f"{outcome.message}. {note}")
        return replace(outcome, message=f"{outcome.message}. {undo}")


def stop_and_wait(
    run: MonitoredRun, name: str, reason: str, wait: float, is_forgotten: bool = False
) -> OrderOutcome:
    job = None if is_forgotten else _stopping_job(run, name, min(wait, STOP_GRACE))
    if job is None or job.state.ended:
        _close(run, name)
        message = (
            f"{name} had already {_how(job)}"
            if job
            else f"the scheduler no longer lists {name}, so nothing was stopped"
        )
        return OrderOutcome(
            run, f"{message}{_keep_down(run, name, job, reason)}", warnings=push_warning(run)
        )
    warnings: tuple[str, ...] = ()
    if not ordered_before(run, Word.STOP, name):
        warnings = order(run, Word.STOP, [name], reason)
    why = f"ordered by {person(run)}{f': {reason}' if reason else ''}"
    stop_once(run, intended_once(run, write_key(Verb.STOP, name), f"stop {name}: {why}"), name, why)
    ended_job = _until_ended(run, name, wait)
    if ended_job and not ended_job.state.ended:
        raise CouldNotLook(
            f"{name} was asked to stop and is still {ended_job.state} after {format_span(wait)}: "
            "nothing was started. Try again."
        )
    message = f"{name} was stopped" + (f" and {_how(ended_job)}" if ended_job else "")
    return OrderOutcome(run, message, warnings=warnings or push_warning(run))


def _how(job: Job) -> str:
    """`ended as failed (exit code 1)`."""
    how, _, detail = job.ending.removeprefix(f"{job.instance} ").partition(": ")
    return (
        f"{how} ({'its scheduler says ' if detail == job.reason else ''}{detail})"
        if detail
        else how
    )


def _stopping_job(run: MonitoredRun, name: str, wait: float) -> Job | None:
    """The job; if it was asked to stop before, wait for its end, so that a repeated order after an
    interruption is one stop.
    """
    if write_key(Verb.STOP, name) not in run.record.memory().done:
        return find_job(run, name)
    return _until_ended(run, name, wait)


def _keep_down(run: MonitoredRun, name: str, job: Job | None, reason: str) -> str:
    """Record the order for a job that has ended, so that the babysitter does not relaunch it. Not
    needed if nothing would relaunch it automatically.
    """
    memory = run.record.memory()
    answer = memory.answers.get(name)
    waits = bool(open_questions(memory)) or (answer is not None and not answer.yes)
    if job is not None and (waits or job.state is JobState.SUCCEEDED):
        return ""
    if name not in memory.stopped_instances:
        order(run, Word.STOP, [name], reason)
    return "; it is not relaunched"


def _close(run: MonitoredRun, name: str) -> None:
    """Record an interrupted stop as done: the job has ended."""
    intent = run.record.memory().intended.get(write_key(Verb.STOP, name))
    if intent:
        run.record.append(stopped(intent, name, intent.what.partition(": ")[2]))


def intended_once(run: MonitoredRun, key: str, what: str) -> Intended:
    """The intent in the record; an interrupted call continues with its own."""
    memory = run.record.memory()
    if key not in memory.intended:
        run.record.append(Intended(at=now(), key=key, attempt=memory.attempt(key), what=what))
    return run.record.memory().intended[key]


def _until_ended(run: MonitoredRun, name: str, wait: float) -> Job | None:
    """The job when it has ended, or its state after `wait` seconds; None if the scheduler no longer
    lists it. A scheduler may not know for a moment how a job that it just stopped has ended.
    """
    until = time.monotonic() + wait
    while True:
        job = _read_job(run, name, "; it was asked to stop, and nothing was started")
        if job is None or (job.state.ended and not job.state.in_doubt):
            return job
        if time.monotonic() >= until:
            return _still_there(job, name)
        time.sleep(0.2)


def _still_there(job: Job, name: str) -> Job:
    if job.state.in_doubt:
        raise CouldNotLook(
            f"{name} was asked to stop, and the scheduler does not report whether it has ended, so "
            f"nothing was started{_why(job)} Repeat the same command in a minute."
        )
    return job


def find_job(run: MonitoredRun, name: str, may_be_forgotten: bool = False) -> Job | None:
    """The job as its scheduler reports it; None if every source was read and there is none, with
    `may_be_forgotten` also if the scheduler has forgotten it.
    """
    job = _read_job(run, name, ", so nothing was done", may_be_forgotten)
    if job is not None and job.state.in_doubt:
        raise CouldNotLook(
            f"The scheduler does not report whether {name} runs, so nothing is done to it"
            f"{_why(job)}"
        )
    return job


def _read_job(
    run: MonitoredRun, name: str, so_far: str, may_be_forgotten: bool = False
) -> Job | None:
    memory = run.record.memory()
    launching = memory.launchings.get(name)  # a job without a contract has none
    since = (
        launching.at
        if launching
        else next(each.started for each in memory.instances if each.name == name)
    )
    answer = run.scheduler.find(name, since)
    if isinstance(answer, Unknown):
        if answer.forgotten and (may_be_forgotten or name in memory.ends):
            return None
        way_on = f" If you know that it has ended: `herorun stop {run.slug}` records its end."
        raise CouldNotLook(
            f"Cannot tell whether {name} runs{so_far}: {sentence(answer.why)}"
            f"{way_on if answer.forgotten else ''}"
        )
    return answer.job if isinstance(answer, Found) else None


def _why(job: Job) -> str:
    return f": {sentence(job.reason)}" if job.reason else "."


def with_monitor(run: Run, message: str, babysit: bool) -> OrderOutcome:
    """Start the monitoring after an order that started an instance; the message says what monitors
    it, or that nothing does.
    """
    watcher, watch_problem = start_watch(run, babysit)
    warnings = (*push_warning(run), *((watch_problem,) if watch_problem else ()))
    return OrderOutcome(
        run, f"{message}; babysitter: {watcher}", 3 if watch_problem else 0, warnings
    )


def relaunch_by_hand(
    run: Run, stop_first: bool = False, reason: str = "", wait: float = 120.0, babysit: bool = True
) -> OrderOutcome:
    """Relaunch through the launch gate, as the babysitter would, by a person's order."""
    run.prepare()
    with locked(run.lock("act"), what="another herorun that acts on this run"):
        before = memory_for_orders(run)
        is_pending = before.unsettled is not None or any(
            verb_of(k) in STARTS for k in before.intended
        )
        name = settled(run)
        memory = run.record.memory()
        origin = memory.launchings[name].relaunch_of
        # only if this order started it: after a refused order, a rollback may have started the
        # current instance
        ours = memory.done.get(write_key(Verb.RELAUNCH, origin)) == name
        if origin and (
            is_pending or (ours and just_ordered(run, Word.RELAUNCH, (origin,), reason))
        ):
            message = f"{name} was submitted already, in place of {origin}{_ended_since(run, name)}"
        else:
            message = _relaunch(run, name, stop_first, reason, wait)
    return with_monitor(run, message, babysit)


def _ended_since(run: Run, name: str) -> str:
    """If the instance has ended since: how to give a new order, because the same one counts as a
    repetition for a while.
    """
    job = find_job(run, name)
    if job is not None and not job.state.ended:
        return ""
    return f", and has ended since: to relaunch {name} too, give another `--reason`"


def _relaunch(run: Run, name: str, stop_first: bool, reason: str, wait: float) -> str:
    job = find_job(run, name)
    if job is not None and not job.state.ended:
        if not stop_first:
            (way,) = _proposed(run, Option.STOP_AND_RELAUNCH, reason)
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
    return f"{new_name} was submitted{_start_of(memory, new_name)}, in place of {name}"


def _start_of(memory: Memory, name: str) -> str:
    """The checkpoint that the instance was submitted with; empty if its plan names none."""
    launching = memory.launchings.get(name)
    start = plan_value(launching.plan, "start") if launching else None
    return f" from {start['path']}" if isinstance(start, Mapping) else ""


def _may_be_relaunched(run: Run, name: str, reason: str) -> None:
    ending = run.record.memory().endings.get(name)
    if ending and ending.cause is Cause.NUMERIC:
        (way,) = _proposed(run, Option.ROLLBACK, reason)
        raise Blocked(
            f"{name} ended in numeric trouble, which is never relaunched: `{way.command}` "
            f"({way.effect})."
        )


def _proposed(run: Run, way: Option, reason: str) -> tuple[ProposedCommand, ...]:
    memory = with_taints_now(run, run.record.memory())
    return Proposer(run, memory, reason=reason).proposals((way,))


def settled(run: Run) -> str:
    """The name of the current instance, after an interrupted launch is settled."""
    memory = memory_for_orders(run)
    must_be_launched(run, memory)
    settle_launching(run, f"{run.launcher.owner}, settled after an interruption")
    if any(verb_of(key) in STARTS for key in memory.intended):
        settle(run)
    current = run.record.memory().current
    if current is None:
        raise Blocked(f"Nothing of {run.slug} was submitted: `herorun launch {run.slug}`.")
    return current.name


def ordered_before(run: MonitoredRun, word: Word, name: str) -> bool:
    return any(each.word is word and name in each.about for each in run.record.memory().orders)


def just_ordered(run: MonitoredRun, word: Word, about: tuple[str, ...], reason: str) -> bool:
    return run.record.memory().just_ordered(word, about, person(run), reason, now())
