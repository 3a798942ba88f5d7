"""Finds jobs without an id: in the registry, nel's runs, Slurm's queue, and experiment folders, in
this order.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeAlias

from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.errors import CouldNotLook, HerorunError, describe_error
from herorun.core.ports import ListsJobs
from herorun.core.redaction.scrub import scrub
from herorun.job_kinds import job_kind, kinds
from herorun.operations.jobs.scheduler import connect_kind
from herorun.operations.record.session import JobSession, read_jobs
from herorun.schemas.jobs import DiscoveredJob, JobPlace
from herorun.system.process_registry import state_home

EXPERIMENTS = "tools/launcher/experiments/cicd"
MAX_JOBS = 10
NOT_QUERIED = "not queried yet"
Listing: TypeAlias = Callable[[], tuple[DiscoveredJob, ...]]


def find_jobs(session: JobSession, start: Path, host: str = "", user: str = "") -> list[JobPlace]:
    """Every place, in order, whatever became of the one before."""
    places: list[tuple[str, Listing]] = [
        (f"registry {session.file}", lambda: _list_registered(session)),
        *_listings(host, user),
        (f"{EXPERIMENTS}/", lambda: _experiments(start)),
    ]
    return [_ask_place(name, ask) for name, ask in places]


def _ask_place(name: str, ask: Listing) -> JobPlace:
    try:
        return JobPlace(place=name, jobs=ask(), why="")
    except (HerorunError, OSError) as error:
        return JobPlace(place=name, jobs=[], why=scrub(describe_error(error)))


def _list_registered(session: JobSession) -> tuple[DiscoveredJob, ...]:
    entries, fault = read_jobs(session)
    rows = tuple(
        DiscoveredJob(
            job=f"{e['type']} {e['id']}",
            description=_join_parts(
                e.get("last_status") or "not queried yet", e.get("description")
            ),
            host=str(e.get("host") or ""),
        )
        for e in entries
    )
    if fault and not rows:
        raise CouldNotLook(fault)
    return rows


def _join_parts(*parts: object) -> str:
    return ", ".join(str(part) for part in parts if part)


def _listings(host: str, user: str) -> Iterator[tuple[str, Listing]]:
    """The listing of each scheduler that can list the user's jobs."""
    for kind in kinds():
        spec = JobSpec(job="", kind=kind, host=host, user=user)
        if name := job_kind(kind).listing(spec):
            yield name, partial(_list_scheduler_jobs, spec)


def _list_scheduler_jobs(spec: JobSpec) -> tuple[DiscoveredJob, ...]:
    job_kind(spec.kind).must_be_reachable(spec)
    adapter = connect_kind(spec, state_home() / "jobs")
    if not isinstance(adapter, ListsJobs):
        raise CouldNotLook(f"the adapter {spec.kind} cannot list jobs")
    return tuple(
        DiscoveredJob(job=f"{spec.kind} {job}", description=about, host="")
        for job, about in adapter.listed(MAX_JOBS)
    )


def _experiments(start: Path) -> tuple[DiscoveredJob, ...]:
    folder = start / EXPERIMENTS
    if not folder.is_dir():
        return ()
    newest = sorted(
        (p for p in folder.iterdir() if p.is_dir()), key=lambda p: p.stat().st_mtime, reverse=True
    )
    return tuple(
        DiscoveredJob(job=f"launcher {path.name}", description=str(path), host="")
        for path in newest[:MAX_JOBS]
    )
