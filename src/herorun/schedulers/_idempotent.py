"""Submits once and stops once, for every back end with a command line."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from herorun.core.errors import CouldNotLook, HerorunError, sentence
from herorun.core.evidence import Job
from herorun.core.ports import Found, Search, Unknown
from herorun.schedulers import _submission_record as keeping

Find: TypeAlias = Callable[[str, datetime], Search]


def known_job(find: Find, instance: str, since: datetime) -> Job | None:
    """The job of the name, no matter who submitted it since; `CouldNotLook` where that cannot be
    told.
    """
    answer = find(instance, since)
    if isinstance(answer, Unknown):
        raise CouldNotLook(sentence(answer.why))
    return answer.job if isinstance(answer, Found) else None


def taken_after(find_job: Callable[[], Job | None], error: HerorunError) -> Job:
    """A submission without an answer may have gone through all the same: then its job, else the
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
    """End a job that lives, keeping who asked for it before it is done; where it fails, nobody
    has.
    """
    if job.state.ended:
        return
    if not job.state.live:
        raise CouldNotLook(
            f"It is unknown from {whose} whether {job.instance} runs: {sentence(job.reason)}"
        )
    keeping.keep_stop(folder, job.instance, job.id, by)
    try:
        end(job)
    except HerorunError:
        keeping.forget_stop(folder, job.instance)
        raise
