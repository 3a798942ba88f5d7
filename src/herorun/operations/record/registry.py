"""Writing jobs into the session's registry, and starting the watch over them."""

import contextlib
import sys
from pathlib import Path
from typing import Any

from herorun.core.adhoc_jobs.registry import (
    Entry,
    entry_of,
    with_entry,
)
from herorun.core.errors import HerorunError
from herorun.core.evidence import Job
from herorun.job_kinds import is_supported, job_kind, must_be_id
from herorun.operations.record.session import (
    OWN,
    JobSession,
    change_jobs,
    prepare,
    session_of_launch,
)
from herorun.runs import Run
from herorun.system.clock import now
from herorun.system.files import is_locked
from herorun.system.spawn import start_detached


def register(session: JobSession, entry: Entry) -> None:
    """Write one job down."""
    must_be_id(str(entry["type"]), str(entry["id"]))
    change_jobs(session, lambda entries: with_entry(entries, entry))


def ensure_watch(session: JobSession, start: Path) -> str:
    """Start `herorun jobs watch` of the session, detached, unless it is there; what was done, in
    words.
    """
    if is_locked(session.watch_lock):
        return f"is watched already{session.log_note}"
    prepare(session)
    argv = [sys.executable, "-P", "-m", "herorun", "-C", str(start.resolve()), "jobs", "watch"]
    pid = start_detached(argv, start, session.log, owner_variables(session))
    return f"is watched by process {pid}, log {session.log}"


def owner_variables(session: JobSession | None) -> dict[str, str]:
    """What identifies the owner of a process without a terminal."""
    return {OWN: session.id} if session and session.agent == "manual" else {}


def register_launch(run: Run, job: Job, why: str) -> None:
    """Registers a launch or relaunch for later queries. An error does not stop the launch, which
    the record has anyway.
    """
    scheduler = run.contract.scheduler
    if not is_supported(scheduler.kind):
        return  # its jobs are found by their run, which the babysitter watches
    with contextlib.suppress(HerorunError, OSError):
        register_one(
            run.repository.top,
            scheduler.kind,
            _id_of(run, job),
            run.slug,
            why,
            job_kind(scheduler.kind).contract_options(scheduler.options),
        )


def _id_of(run: Run, job: Job) -> str:
    """As its adapter says if only herorun knows its own id."""
    external_id = getattr(run.scheduler, "external_id", None)
    return str(external_id(job)) if external_id else job.id


def register_one(
    start: Path,
    kind: str,
    job: str,
    about: str,
    why: str,
    options: dict[str, Any],
) -> JobSession | None:
    """In the session of the one that launches; None if nobody is there to read it."""
    session = session_of_launch(start)
    if session is None:
        return None
    where = {name: str(options[name]) for name in job_kind(kind).place if options.get(name)}
    fields = {**where, "description": f"{about}: {why}"}
    register(session, entry_of(kind, job, now(), (session.agent, session.id), fields, "SUBMITTED"))
    ensure_watch(session, start)
    return session
