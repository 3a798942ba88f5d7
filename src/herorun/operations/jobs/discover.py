"""Jobs found again with no id given, in the seed's order: the registry, nel's runs, Slurm's queue,
experiment folders.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.errors import CouldNotLook, HerorunError, in_words
from herorun.core.redaction.scrub import scrub
from herorun.operations.jobs.scheduler import adapter_for
from herorun.operations.record.session import JobSession, read_jobs
from herorun.system.process_registry import state_home

EXPERIMENTS = "tools/launcher/experiments/cicd"
NEWEST = 10


@dataclass(frozen=True)
class SearchedPlace:
    """What one place told. `why` says why it could not be asked: that is not nothing."""

    name: str
    jobs: tuple[tuple[str, str], ...] = ()  # id and what is told of it
    why: str = ""


def find_jobs(
    session: JobSession, start: Path, host: str = "", user: str = ""
) -> list[SearchedPlace]:
    """Every place, in order, whatever became of the one before."""
    places: list[tuple[str, Callable[[], tuple[tuple[str, str], ...]]]] = [
        (f"registry {session.file}", lambda: _registered(session)),
        ("nel ls runs --since 1d", lambda: _recent_nel_jobs(host, user)),
        (f"squeue -u {user or '$USER'}{f' on {host}' if host else ''}", lambda: _queue(host, user)),
        (f"{EXPERIMENTS}/", lambda: _experiments(start)),
    ]
    found = []
    for name, ask in places:
        try:
            found.append(SearchedPlace(name, ask()))
        except (HerorunError, OSError) as error:
            found.append(SearchedPlace(name, (), scrub(in_words(error))))
    return found


def _registered(session: JobSession) -> tuple[tuple[str, str], ...]:
    entries, fault = read_jobs(session)
    told = tuple(
        (
            f"{e['type']} {e['id']}",
            _join_parts(e.get("last_status") or "not looked at yet", e.get("description")),
        )
        for e in entries
    )
    if fault and not told:
        raise CouldNotLook(fault)
    return told


def _join_parts(*parts: object) -> str:
    return ", ".join(str(part) for part in parts if part)


def _recent_nel_jobs(host: str, user: str) -> tuple[tuple[str, str], ...]:
    nel = adapter_for(
        JobSpec(job="000000", kind="nel", host=host, user=user), state_home() / "jobs"
    )
    return tuple((f"nel {job}", told) for job, told in nel.recent(NEWEST))


def _queue(host: str, user: str) -> tuple[tuple[str, str], ...]:
    if not host and shutil.which("squeue") is None:
        raise CouldNotLook("there is no squeue on this machine: name the login node with --host")
    slurm = adapter_for(JobSpec(job="1", kind="slurm", host=host, user=user), state_home() / "jobs")
    return tuple((f"slurm {job}", _join_parts(word, name)) for job, word, name in slurm.mine())


def _experiments(start: Path) -> tuple[tuple[str, str], ...]:
    folder = start / EXPERIMENTS
    if not folder.is_dir():
        return ()
    newest = sorted(
        (p for p in folder.iterdir() if p.is_dir()), key=lambda p: p.stat().st_mtime, reverse=True
    )
    return tuple((f"launcher {path.name}", str(path)) for path in newest[:NEWEST])
