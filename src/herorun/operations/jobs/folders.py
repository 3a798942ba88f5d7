"""Which folder of this machine watches which job without a contract."""

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from herorun.core.adhoc_jobs.spec import JobSpec
from herorun.core.adhoc_jobs.state_file import facts_in
from herorun.core.untrusted_json import read_json
from herorun.system.files import make_folders, take_lock
from herorun.system.process_registry import state_home

FACTS = "facts.json"


def jobs_home() -> Path:
    return state_home() / "jobs"


def folder_of(facts: JobSpec) -> Path:
    """The folder of this job, or of the one that its state file began with."""
    folder = _known_folder(facts, facts.job)
    if folder is None and facts.first_job:
        folder = _known_folder(facts, facts.first_job)
    return folder or jobs_home() / facts.slug


def move_aside(facts: JobSpec) -> Path | None:
    """Move what was watched under this id away, whole: the id is another job's now. None where
    nothing was.

    `WrongUse` while a babysitter still watches it.
    """
    folder = folder_of(facts)
    if not folder.exists():
        return None
    os.close(take_lock(folder / "babysitter.lock", 0.0, f"a babysitter of {facts.job}"))
    earlier = jobs_home().parent / "earlier-jobs"
    make_folders(earlier)
    number = 1
    while (target := earlier / f"{folder.name}-{number}").exists():
        number += 1
    folder.rename(target)
    return target


def known_spec(spec: JobSpec) -> JobSpec | None:
    """The settings by which this machine watches that job; None if it does not."""
    for folder in known_folders():
        with contextlib.suppress(OSError, ValueError):
            data = (folder / FACTS).read_bytes()
            facts, document = facts_in(data)
            if spec.job in _jobs(document) and facts.may_be(spec):
                return facts
    return None


def _known_folder(facts: JobSpec, job: str) -> Path | None:
    """The folder of a watch that submitted this job itself: a job has one journal."""
    for folder in known_folders():
        document = read_facts(folder)
        if (
            document
            and (document.get("kind"), document.get("where")) == (facts.kind, facts.where)
            and job in _jobs(document)
        ):
            return folder
    return None


def _jobs(document: Mapping[str, Any]) -> list[Any]:
    jobs = document.get("jobs")
    return jobs if isinstance(jobs, list) else []


def known_folders() -> Iterator[Path]:
    try:
        yield from sorted(path for path in jobs_home().iterdir() if path.is_dir())
    except FileNotFoundError:
        return


def read_facts(folder: Path) -> dict[str, Any] | None:
    try:
        document = read_json((folder / FACTS).read_bytes())
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None
