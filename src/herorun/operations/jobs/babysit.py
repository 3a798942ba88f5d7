"""Watching one job without a contract: the babysitter's own loop, over a `JobRun`."""

import contextlib
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.adhoc_jobs.stored_command import missing_secrets
from herorun.core.babysit.stop_condition import StopCondition
from herorun.core.errors import CouldNotLook, WrongUse
from herorun.core.ports import Absent
from herorun.core.redaction.scrub import MASK
from herorun.job_kinds import job_kind
from herorun.operations.babysit.loop import mark_unattended, watch
from herorun.operations.babysit.outcome import TickOutcome
from herorun.operations.jobs.folders import move_aside
from herorun.operations.jobs.job_contract import CADENCE
from herorun.operations.jobs.monitor import claim, must_be_ours
from herorun.operations.jobs.run import JobRun, open_job
from herorun.operations.jobs.state_file import file_for, project, tick_and_project


def ready(
    facts: JobSpec,
    start: Path,
    every: timedelta = CADENCE,
    new_job: bool = False,
    exclusive: bool = False,
) -> tuple[JobRun, list[str]]:
    """The job with its state file, and what a person should know before its command is used.

    `new_job`: the id now belongs to another job than before. `WrongUse` where a command
    would wait, or the job is surely not there. `exclusive`: `HandedOver` while another machine
    monitors the job.
    """
    if facts.resubmit:
        job_kind(facts.kind).must_return(facts.resubmit)
    before = move_aside(facts) if new_job else None
    run = open_job(facts, every)
    new = run.current is None
    if new and isinstance(run.find_job(), Absent):
        raise WrongUse(
            f"{facts.kind} knows no job {facts.job}{_where(facts)}: {job_kind(facts.kind).absent}."
        )
    run.state_file = file_for(facts, start, new_job)
    if exclusive:
        must_be_ours(run)
    run.record_first()
    notices = _what_it_is(run) if new else []
    project(run)
    notes = [f"the state of the earlier job with this id is kept in {before}"] if before else []
    return (
        run,
        [*notes, *notices, *_of_secrets(run), *job_kind(facts.kind).notices(facts.resubmit)],
    )


def _what_it_is(run: JobRun) -> list[str]:
    """In words, of schedulers whose ids are easily mistyped."""
    with contextlib.suppress(CouldNotLook, OSError):
        message = run.scheduler.describe(run.facts.job)
        return [message] if message else []
    return []


def _of_secrets(run: JobRun) -> list[str]:
    names = run.facts.secrets
    lacking = missing_secrets(run.facts.resubmit, names, {**os.environ, **run.facts.values})
    if MASK in run.facts.resubmit or lacking:
        missing = ", ".join(lacking) or "its secret, which was not stored"
        return [
            (
                f"the resubmit command is not run here, because the environment lacks {missing}; "
                "export it, or give the command again with --resubmit"
            )
        ]
    if not run.facts.values:
        return []
    variables = ", ".join(f"${name}" for name in names)
    return [
        (
            f"the resubmit command is stored with {variables} in place of the value; export it "
            "before you resume this watch elsewhere"
        )
    ]


def _where(facts: JobSpec) -> str:
    return f" on {facts.where}" if facts.where else ""


def tick_job(run: JobRun, drift: str = "") -> TickOutcome:
    """One tick, once the state file names this machine as the one that monitors the job."""
    with mark_unattended():
        claim(run)
        return tick_and_project(run)


def watch_job(
    run: JobRun,
    report: Callable[[JobRun, TickOutcome], None],
    until: StopCondition | None = None,
    before_tick: Callable[[], None] = lambda: None,
) -> int:
    """Until the terminal state, or the stopping point. One such loop a job and machine."""
    facts, every, state_file = run.facts, run.contract.babysit.cadence, run.state_file

    def again(name: str, start: Path) -> tuple[JobRun, str]:
        return open_job(facts, every, state_file), ""

    return watch(
        run.slug, run.folder, report, until, tick_job, open_monitored=again, before_tick=before_tick
    )
