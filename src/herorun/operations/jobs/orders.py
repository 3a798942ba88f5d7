"""Orders about a job without a contract: stop it, or submit it again."""

import shlex

from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.errors import Blocked, WrongUse
from herorun.core.event import Word
from herorun.core.proposed_commands import herorun_argv
from herorun.core.recovery.classify import Cause
from herorun.operations.jobs.resubmit import resubmit
from herorun.operations.jobs.run import JobRun
from herorun.operations.jobs.state_file import project, tick_and_project
from herorun.operations.orders.order import OrderOutcome, just_ordered, order, ordered_before
from herorun.operations.orders.stop import find_job, stop_and_wait
from herorun.system.files import hold_lock, is_locked


def stop_job(run: JobRun, reason: str = "", wait: float = 120.0) -> OrderOutcome:
    """Through its scheduler, and wait so many seconds for the end. It is not submitted again by
    itself.
    """
    with hold_lock(run.lock("act"), what="another herorun that acts on this job"):
        outcome = stop_and_wait(run, _current(run), reason, wait)
        project(run)
    return outcome


def resubmit_job(
    run: JobRun,
    reason: str = "",
    *,
    stop_first: bool = False,
    wait: float = 120.0,
) -> OrderOutcome:
    """By the command that was given, once for one end; the state file then has the new id, and one
    restart more.

    A poll comes first, so that its end is in the journal: the same failure twice, with no further
    step in between, is not tried a third time. `Blocked` says why not.
    """
    if not run.facts.resubmit:
        raise WrongUse(
            f"The command that submits {run.facts.job} is unknown: give it with --resubmit."
        )
    if message := _done_already(run, reason):
        return OrderOutcome(run, message, warnings=_warn_unmonitored(run))
    name = _current(run)
    tick_and_project(run)
    with hold_lock(run.lock("act"), what="another herorun that acts on this job"):
        if _current(run) == name:
            _must_have_ended(run, name, stop_first, reason, wait)
            if not ordered_before(run, Word.RELAUNCH, name):
                order(run, Word.RELAUNCH, [name], reason)
            resubmit(run, name, f"ordered by a person{f': {reason}' if reason else ''}")
        project(run)
    return OrderOutcome(
        run, f"{run.job_id} was submitted in place of {name}", warnings=_warn_unmonitored(run)
    )


def _done_already(run: JobRun, reason: str) -> str:
    """The very same order, moments ago; empty where there is something to do."""
    memory = run.record.memory()
    before = memory.instances[-2].name if len(memory.instances) > 1 else ""
    if write_key(Verb.RESUBMIT, before) in memory.done and just_ordered(
        run, Word.RELAUNCH, (before,), reason
    ):
        return (
            f"{run.job_id} was submitted already, in place of {before}; to submit it "
            "once more, "
            "give another --reason"
        )
    return ""


def _must_have_ended(run: JobRun, name: str, stop_first: bool, reason: str, wait: float) -> None:
    job = find_job(run, name)
    if job is not None and not job.state.is_final:
        if not stop_first:
            raise Blocked(f"{job.id} is still {job.state}: add --stop-first to stop it first.")
        stop_and_wait(run, name, reason, wait)
    ending = run.record.memory().endings.get(name)
    if ending and ending.cause is Cause.NUMERIC:
        raise Blocked(
            f"{run.job_id} ended with a numeric failure, which the same command would repeat: "
            "change the code or the config, submit that yourself, and watch it with `herorun "
            f"babysit --job NEW --scheduler {run.facts.kind}`."
        )


def _current(run: JobRun) -> str:
    current = run.current
    assert current is not None, "a job that is watched has begun"
    return current.name


def _warn_unmonitored(run: JobRun) -> tuple[str, ...]:
    if is_locked(run.lock("babysitter")):
        return ()
    job = run.job_id
    argv = ["babysit", "--job", job, *run.facts.options]
    command = shlex.join(herorun_argv(run.facts.cwd, argv))
    return (f"{job} is not monitored on this machine: run `{command}`",)
