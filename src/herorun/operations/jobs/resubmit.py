"""Submits a job without a contract again, by its stored command: once per end, recorded before."""

import contextlib
import os
import shlex
from pathlib import Path

from herorun.core.adhoc_jobs.log_parser import submitted_in
from herorun.core.adhoc_jobs.stored_command import argv_of, must_have_secrets
from herorun.core.babysit.action_key import Verb, write_key
from herorun.core.errors import Blocked, CouldNotLook, HerorunError, sentence
from herorun.core.event import Done, Failed, Intended
from herorun.core.journal import Memory
from herorun.core.redaction.scrub import scrub
from herorun.job_kinds import job_kind
from herorun.operations.jobs.run import JobRun, keep_facts
from herorun.operations.record.lease import take_lease
from herorun.operations.record.registry import register_one
from herorun.system.clock import now
from herorun.system.process import run as run_program

WITHIN = 900.0  # seconds that the command may take: it only submits


def resubmit(run: JobRun, instance: str, why: str) -> str:
    """Run the command and follow the job that it names; the name of the new instance.

    Whatever its result, it is never run again for this end: what an interrupted or unclear
    submission left behind, a person sees and no machine. `Blocked` says why.
    """
    memory = run.record.memory()
    if memory.current and memory.current.name != instance:
        return str(memory.current.name)
    key = write_key(Verb.RESUBMIT, instance)
    _must_be_first(run, memory, key)
    _must_have_progressed(run, memory, instance)
    must_have_secrets(run.facts.resubmit, run.facts.secrets, _resubmit_env(run))
    _must_be_alone(run)
    take_lease(run)
    run.record.append(
        Intended(at=now(), key=key, attempt=1, what=f"submit again after {instance}: {why}")
    )
    try:
        job = _run_resubmit(run, instance)
    except (Blocked, CouldNotLook) as error:
        run.record.append(Failed(now(), key, 1, scrub(str(error))))
        raise Blocked(str(error)) from None
    new_job = run.instance(job, why, after=instance)
    run.record.append(new_job, Done(now(), key, 1, result=job))
    keep_facts(run)
    _register(run, job, instance)
    return new_job.instance


def _register(run: JobRun, job: str, after: str) -> None:
    """For anyone who asks about it later; the journal has it anyway."""
    options = {name: getattr(run.facts, name) for name in ("host", "user", "config", "cluster")}
    with contextlib.suppress(HerorunError, OSError):
        register_one(
            Path(run.facts.cwd or "."),
            run.facts.kind,
            job,
            run.slug,
            f"again after {after}",
            options,
        )


def _must_be_first(run: JobRun, memory: Memory, key: str) -> None:
    if not run.facts.resubmit:
        raise Blocked("The command that submits it is unknown: give it with --resubmit.")
    if key in memory.intended or key in memory.done or key in memory.failed:
        tries = memory.failed.get(key)
        how = tries.why if tries else "herorun was interrupted in the middle of it"
        raise Blocked(
            "The resubmit command already ran once after this end, and does not run twice: "
            f"{sentence(how)} Look for its job, and monitor that one with `herorun babysit --job`."
        )


def _must_be_alone(run: JobRun) -> None:
    """Another live job of the same name and user is the next one already, no matter who submitted
    it: this machine cannot see a state file of another machine.
    """
    others = run.scheduler.live_namesakes()
    if others:
        watch = shlex.join(["herorun", "babysit", "--job", others[0], *run.facts.options])
        raise Blocked(
            f"{', '.join(others)} runs under the same name and user, so nothing was submitted: "
            f"watch it with `{watch}`, or stop it first."
        )


def _resubmit_env(run: JobRun) -> dict[str, str]:
    return {**os.environ, **run.facts.values}


def _must_have_progressed(run: JobRun, memory: Memory, instance: str) -> None:
    """The same failure twice, and no further step in between: another submission would meet it
    again.
    """
    ends, failures = list(memory.ends.values()), memory.endings
    newest, ending = memory.ends.get(instance), failures.get(instance)
    if newest is None or ending is None:
        return
    fingerprint, step = run.facts.last_failure if len(memory.instances) == 1 else ("", 0)
    if len(ends) > 1 and ends[-2].instance in failures:
        fingerprint, step = failures[ends[-2].instance].fingerprint, ends[-2].step or 0
    same = ending.fingerprint == fingerprint
    if same and not ending.cause.free and (newest.step or 0) <= step:
        raise Blocked(
            "The same failure came twice with no further step in between: "
            f"{failures[instance].why}."
        )


def _run_resubmit(run: JobRun, instance: str) -> str:
    env = {**_resubmit_env(run), "HERORUN_AFTER": instance}
    argv = argv_of(run.facts.resubmit, run.facts.secrets, env)
    try:
        answer = run_program(argv, WITHIN, cwd=run.facts.cwd or None, env=env)
    except CouldNotLook as error:
        raise Blocked(
            f"It is unknown whether the resubmit command submitted a job: {error}"
        ) from None
    output = f"{answer.text}\n{answer.err.decode('utf-8', 'replace')}"
    job = submitted_in(job_kind(run.facts.kind).printed, output)
    if answer.code:
        raise Blocked(f"The resubmit command failed: {scrub(answer.complaint)}.")
    if not job:
        raise Blocked(
            f"The resubmit command printed no id of a {run.facts.kind} job: check whether it "
            "submitted one."
        )
    return job
