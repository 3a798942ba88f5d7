"""Jobs, as the scheduler reports them."""

from dataclasses import replace
from pathlib import Path

from herorun.core.contract import Contract
from herorun.core.errors import CouldNotLook, HerorunError, describe_error
from herorun.core.evidence import (
    FORGOTTEN_JOB,
    End,
    History,
    Job,
    JobState,
    JobWarnings,
    LiveJobs,
    Nothing,
    Now,
    OtherJobs,
    Unavailable,
)
from herorun.core.ports import Absent, Found, Place, Scheduler, Unknown


def read_job(scheduler: Scheduler, history: History, place: Place, now: Now) -> Job | Nothing:
    """The current instance's job. If the scheduler no longer lists it, or has forgotten it, its
    end is unknown, unless a person ordered its stop and the end is recorded.
    """
    current = history.current
    if current is None:
        return Nothing("no instance was launched yet")
    match scheduler.find(current.name, current.since):
        case Found(job):
            from herorun.sources._job_age import began_by_uptime

            return replace(job, began=began_by_uptime(job, history, Path(place.state), now))
        case Absent() | Unknown(forgotten=True) if end := history.end_by_order:
            return _ended_by_order(current.job, end)
        case Absent():
            raise CouldNotLook(
                f"the scheduler does not list {current.name}: the job may run elsewhere, or the "
                "scheduler has forgotten it",
                root=FORGOTTEN_JOB,
            )
        case Unknown(why, forgotten):
            raise CouldNotLook(why, root=FORGOTTEN_JOB if forgotten else "")


def _ended_by_order(job: str, end: End) -> Job:
    return Job(
        id=job,
        instance=end.instance,
        state=end.state,
        reason="the scheduler no longer lists it, and its stop was ordered",
        exit_code=end.exit_code,
        signal=end.signal,
        ended=end.ended,
    )


def read_live_jobs(scheduler: Scheduler, contract: Contract, history: History) -> LiveJobs:
    """The live jobs, and the recorded current instance if this scheduler does not list it, because
    it may run elsewhere.
    """
    live = scheduler.live_jobs(contract.slug)
    current = history.current
    if current is None or any(job.instance == current.name for job in live):
        return LiveJobs(live)
    match scheduler.find(current.name, current.since):
        case Found(job) if job.state.is_final:
            return LiveJobs(live)
        case Found(job):
            return LiveJobs((*live, job))
        case Absent() | Unknown(forgotten=True) if history.end_by_order:
            return LiveJobs(live)
        case Absent():
            missing_job = Job(
                id=current.job,
                instance=current.name,
                state=JobState.UNKNOWN,
                reason="it is recorded, and this scheduler does not list it",
            )
            return LiveJobs((*live, missing_job))
        case Unknown(why):
            raise CouldNotLook(why)


def read_other_jobs(
    scheduler: Scheduler, contract: Contract, history: History, live: LiveJobs | Unavailable
) -> OtherJobs:
    """Live jobs besides the current instance. Unreadable ones are no gap, because no check uses
    them.
    """
    if isinstance(live, Unavailable):
        return OtherJobs(why=live.why)
    current = history.current.name if history.current else ""
    attempts = tuple(job for job in live.jobs if job.instance != current)
    ask = getattr(scheduler, "other_jobs", None)
    try:
        return OtherJobs(attempts, ask(contract.slug) if ask else ())
    except (CouldNotLook, OSError) as error:
        return OtherJobs(attempts, why=describe_error(error))


def read_job_warnings(scheduler: Scheduler, history: History) -> JobWarnings | Nothing:
    """The scheduler's warnings, if it reports any. Unreadable ones are no gap, because no check
    uses them.
    """
    ask, current = getattr(scheduler, "warnings", None), history.current
    if ask is None or current is None:
        return Nothing("the scheduler reports no warnings" if ask is None else "no instance yet")
    try:
        return JobWarnings(ask(current.name))
    except (HerorunError, OSError) as error:
        return Nothing(f"its warnings could not be read: {describe_error(error)}")
