"""Stops a job by order, and finds out whether it has ended."""

import time
from dataclasses import replace

from herorun.core.babysit.action_key import STARTS, Verb, verb_of, write_key
from herorun.core.durations import format_span
from herorun.core.errors import Blocked, CouldNotLook, sentence
from herorun.core.event import Word
from herorun.core.evidence import Job, JobState
from herorun.core.ports import Found, Unknown
from herorun.operations.babysit.perform import build_stop_outcome, settle, stop_once
from herorun.operations.health.evaluate import must_be_launched
from herorun.operations.health.replaced_instance import (
    record_forgotten_end,
)
from herorun.operations.launch.start_instance import settle_launching
from herorun.operations.orders.acknowledge import end_of_monitoring
from herorun.operations.orders.forgotten_job import must_be_silent, must_have_ended
from herorun.operations.orders.order import (
    OrderOutcome,
    intended_once,
    memory_for_orders,
    order,
    ordered_before,
    person,
    push_warning,
)
from herorun.operations.orders.questions import open_questions
from herorun.runs import MonitoredRun, Run
from herorun.system import progress
from herorun.system.files import hold_lock

# seconds that a job gets to heed a stop, before the same order tells it once more
STOP_GRACE = 10.0


def stop(run: Run, reason: str = "", wait: float = 120.0) -> OrderOutcome:
    """Stop the current instance through its scheduler, and wait so many seconds for the end."""
    run.prepare()
    with hold_lock(run.lock("act"), what="another herorun that acts on this run"):
        way_on = f"`herorun status {run.slug}` shows what to do next"
        name = settle_instance(run, may_be_forgotten=True, order="stop")
        job = find_job(run, name, may_be_forgotten=True)
        is_forgotten = job is None
        is_new_end = job is not None and _is_new_end(run, name, job)
        if is_forgotten:
            must_have_ended(run, name)
            must_be_silent(run, name)
        outcome = stop_and_wait(run, name, reason, wait, is_forgotten)
        if is_forgotten:
            record_forgotten_end(run, name)
            note = f"The record counts {name} as ended: make sure that no process of it is left"
            outcome = replace(outcome, message=f"{outcome.message}. {note}")
        monitoring = ""
        if name in run.record.memory().stopped_instances:
            monitoring = _next_report(run) if is_new_end else end_of_monitoring(run)
        sentences = filter(None, [outcome.message, monitoring, way_on])
        return replace(outcome, message=". ".join(sentences))


def _is_new_end(run: Run, name: str, job: Job) -> bool:
    """Whether it ended without an order and no tick has seen the end: the next one may find it
    critical.
    """
    memory = run.record.memory()
    was_stopped = write_key(Verb.STOP, name) in {*memory.done, *memory.intended}
    return job.state.is_final and name not in memory.ends and not was_stopped


def _next_report(run: Run) -> str:
    return (
        "If a babysitter runs, its next tick reports this end; the babysitter ends once no "
        f"critical alert is left to acknowledge (`herorun ack {run.slug}`)"
    )


def stop_and_wait(
    run: MonitoredRun, name: str, reason: str, wait: float, is_forgotten: bool = False
) -> OrderOutcome:
    job = None if is_forgotten else _stopping_job(run, name, min(wait, STOP_GRACE))
    if job is None or job.state.is_final:
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
    with progress.spinner(f"waiting for the end of {name}"):
        ended_job = _until_ended(run, name, wait)
    if ended_job and not ended_job.state.is_final:
        raise CouldNotLook(
            f"{name} was asked to stop and is still {ended_job.state} after {format_span(wait)}; "
            "nothing else was done. Repeat the same command to wait again. If it does not end, "
            f"cancel job {ended_job.id} with the scheduler's own command, then repeat this one."
        )
    message = f"{name} was stopped" + (f" and {_how(ended_job)}" if ended_job else "")
    if ended_job and ended_job.state is JobState.SUCCEEDED:  # by itself, or as the stop asked it to
        message = f"{name} was asked to stop and {_how(ended_job)}"
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
    return "; herorun will not relaunch it"


def _close(run: MonitoredRun, name: str) -> None:
    """Record an interrupted stop as done: the job has ended."""
    intent = run.record.memory().intended.get(write_key(Verb.STOP, name))
    if intent:
        run.record.append(build_stop_outcome(intent, name, intent.what.partition(": ")[2]))


def _until_ended(run: MonitoredRun, name: str, wait: float) -> Job | None:
    """The job when it has ended, or its state after `wait` seconds; None if the scheduler no longer
    lists it. A scheduler may not know for a moment how a job that it just stopped has ended.
    """
    until = time.monotonic() + wait
    while True:
        job = _read_job(run, name, "; it was asked to stop, and nothing was started")
        if job is None or (job.state.is_final and not job.state.in_doubt):
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
    if job is not None and job.state is JobState.GONE:  # no later query says more
        raise CouldNotLook(
            f"{name} no longer runs, and its scheduler does not report how it ended, so nothing is "
            f"done to it{_why(job)}{'' if 'log' in job.reason else ' Its log may show it.'}"
        )
    if job is not None and job.state.in_doubt:
        raise CouldNotLook(
            f"The scheduler does not report whether {name} runs, so nothing is done to it"
            f"{_why(job)} Repeat the same command in a minute."
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
        way_on = (
            " If the scheduler's own accounting or the job's nodes show that it has ended: "
            f"`herorun stop {run.slug}` records its end; then repeat this command."
            if answer.forgotten
            else " Repeat the same command once it answers."
        )
        raise CouldNotLook(
            f"Cannot tell whether {name} runs{so_far}: {sentence(answer.why)}{way_on}"
        )
    return answer.job if isinstance(answer, Found) else None


def _why(job: Job) -> str:
    return f": {sentence(job.reason)}" if job.reason else "."


def settle_instance(run: Run, may_be_forgotten: bool = False, order: str = "") -> str:
    """The name of the current instance, after an interrupted launch is settled: with
    `may_be_forgotten` also one whose job the scheduler has forgotten. `order` is as in
    `must_be_launched`.
    """
    memory = memory_for_orders(run)
    must_be_launched(run, memory, order)
    babysitter = f"{run.launcher.owner}, settled after an interruption"
    settle_launching(run, babysitter, may_be_forgotten)
    if any(verb_of(key) in STARTS for key in memory.intended):
        settle(run)
    current = run.record.memory().current
    if current is None:
        way_on = f"there is nothing to {order}" if order else f"`herorun launch {run.slug}`"
        raise Blocked(f"Nothing of {run.slug} was submitted: {way_on}.")
    return current.name
