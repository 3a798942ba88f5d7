"""Idempotent submission and stop, for every back end with a command line."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from herorun.core.errors import CouldNotLook, HerorunError, WrongUse, sentence
from herorun.core.evidence import Job
from herorun.core.ports import Found, Search, Unknown
from herorun.core.untrusted_json import read_json
from herorun.schedulers import _submission_record as keeping

Find: TypeAlias = Callable[[str, datetime], Search]


def known_job(find: Find, instance: str, since: datetime) -> Job | None:
    """The job of the name, by any submitter since that time; `CouldNotLook` if that is unknown."""
    answer = find(instance, since)
    if isinstance(answer, Unknown):
        raise CouldNotLook(sentence(answer.why))
    return answer.job if isinstance(answer, Found) else None


def job_to_stop(answer: Search, job: str) -> Job:
    """The job that a stop is for; `WrongUse` if there is none, `CouldNotLook` if that is unknown:
    a stop that reached nobody must not look like one that did.
    """
    if isinstance(answer, Unknown):
        raise CouldNotLook(f"{job} was not stopped: {sentence(answer.why)}")
    if not isinstance(answer, Found):
        raise WrongUse(f"There is no job {job}, so nothing was stopped.")
    if not answer.job.state.is_final and not answer.job.state.live:
        raise CouldNotLook(f"{job} was not stopped, as its state is unknown: {answer.job.reason}")
    return answer.job


def taken_after(find_job: Callable[[], Job | None], error: HerorunError) -> Job:
    """The job of a submission without an answer, which may have succeeded; otherwise raises the
    error.
    """
    try:
        job = find_job()
    except HerorunError:
        job = None
    if job is None:
        raise error
    return job


def end_once(folder: Path, job: Job, by: str, whose: str, end: Callable[[Job], None]) -> None:
    """End a live job, after recording who ordered it; if ending it fails, the record is removed."""
    if job.state.is_final:
        return
    if not job.state.live:
        raise CouldNotLook(
            f"{whose} does not say whether {job.instance} runs, so it was not stopped: "
            f"{sentence(job.reason)}"
        )
    keeping.keep_stop(folder, job.instance, job.id, by)
    try:
        end(job)
    except HerorunError:
        keeping.forget_stop(folder, job.instance)
        raise


def admitted_plan(admission: str) -> str:
    """The digest of the admitted plan; empty if the admission cannot be read."""
    try:
        document = read_json(Path(admission).read_bytes())
    except (OSError, ValueError):
        return ""
    return str(document.get("plan", "")) if isinstance(document, dict) else ""
