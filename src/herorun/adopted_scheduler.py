"""A run's scheduler that also knows its adopted jobs: those by their ids, all others by their
instances' names.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import Any

from herorun import adapters
from herorun.core.contract import SchedulerTable
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Job
from herorun.core.journal import Memory
from herorun.core.ports import ById, Found, Place, Scheduler, Search, Submission, Unknown

_ITS_OWN = ("log", "read_log")  # what an adapter knows about the instances that it started itself


def jobs_by_id(table: SchedulerTable, place: Place, kind: str = "") -> ById:
    """What looks at jobs of the contract's scheduler by their ids, by the same transport; or at
    those of another kind, on the machine that this leads to.
    """
    from herorun.job_kinds import PORT, job_kind

    own_kind = kind in ("", table.kind)
    options = job_kind(table.kind).contract_options(table.options) if own_kind else table.options
    return adapters.connect(PORT, kind or table.kind, {}, place, options)


class AdoptedScheduler:
    """The scheduler port. What an adapter offers beyond it is passed on, unless the newest instance
    was adopted.
    """

    cluster_wide: bool  # as its scheduler has it

    def __init__(
        self,
        scheduler: Scheduler,
        memory: Callable[[], Memory],
        jobs: Callable[[], ById],
        but: str = "",
    ) -> None:
        self._scheduler, self._memory, self._connect, self._but = scheduler, memory, jobs, but

    def without(self, job: str) -> "AdoptedScheduler":
        return AdoptedScheduler(self._scheduler, self._memory, self._connect, job)

    def submit(self, submission: Submission, code: str, admission: str) -> Job:
        return self._scheduler.submit(submission, code, admission)

    def find(self, instance: str, intended_at: datetime) -> Search:
        job = self._memory().adopted_jobs.get(instance)
        return (
            self._scheduler.find(instance, intended_at)
            if job is None
            else self._find_adopted(instance, job)
        )

    def live_jobs(self, slug: str) -> tuple[Job, ...]:
        """What the scheduler knows by name, and the newest instance where that was adopted; each
        job once.
        """
        memory = self._memory()
        adopted_jobs, newest = memory.adopted_jobs, memory.newest
        excluded_ids = {self._but, *adopted_jobs.values()}
        jobs = tuple(job for job in self._scheduler.live_jobs(slug) if job.id not in excluded_ids)
        if newest not in adopted_jobs:
            return jobs
        match self._find_adopted(newest, adopted_jobs[newest]):
            case Unknown(why):
                raise CouldNotLook(why)
            case Found(job) if not job.state.is_final:
                return (*jobs, job)
            case _:
                return jobs

    def _find_adopted(self, instance: str, job: str) -> Search:
        answer: Search = self._jobs.find_job(job)
        return (
            Found(replace(answer.job, instance=instance)) if isinstance(answer, Found) else answer
        )

    def tail(self, instance: str, lines: int) -> str:
        job = self._memory().adopted_jobs.get(instance)
        return self._scheduler.tail(instance, lines) if job is None else self._jobs.tail(job, lines)

    def stop(self, instance: str, by: str) -> None:
        job = self._memory().adopted_jobs.get(instance)
        if job is None:
            self._scheduler.stop(instance, by)
        else:
            self._jobs.stop(job)

    def _warnings(self, instance: str) -> tuple[str, ...]:
        """The warnings of an adopted job, by its id, if its back end reports them."""
        job = self._memory().adopted_jobs.get(instance)
        ask = self._scheduler if job is None else self._jobs
        if not hasattr(ask, "warnings"):
            return ()
        lines: tuple[str, ...] = ask.warnings(job or instance)
        return lines

    @cached_property
    def _jobs(self) -> Any:
        return self._connect()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        member = getattr(self._scheduler, name)
        if name == "with_snapshot":
            return self._with_snapshot
        if name == "warnings":
            return self._warnings
        if name in _ITS_OWN and self._is_adopted():
            raise AttributeError(name)  # its log is read by the job's id, from its end
        return member

    def _with_snapshot(self, snapshot: Any) -> "AdoptedScheduler":
        view = self._scheduler.with_snapshot(snapshot)  # type: ignore[attr-defined]  # it has it
        return AdoptedScheduler(view, self._memory, self._connect, self._but)

    def _is_adopted(self) -> bool:
        memory = self._memory()
        return memory.newest in memory.adopted_jobs


def without(scheduler: Scheduler, job: str) -> Scheduler:
    """The same, which does not count a job that is about to be adopted among the live ones."""
    return scheduler.without(job) if isinstance(scheduler, AdoptedScheduler) else scheduler
