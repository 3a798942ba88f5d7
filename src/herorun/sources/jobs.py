"""Jobs, as the scheduler tells of them."""

from herorun.core.contract import Contract
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import History, Job, JobState, LiveJobs, Nothing
from herorun.core.ports import Absent, Found, Scheduler, Unsure


def read_job(scheduler: Scheduler, history: History) -> Job | Nothing:
    """The current instance's job. One that the scheduler no longer knows is `gone`, which is no success."""
    current = history.current
    if current is None:
        return Nothing("no instance was launched yet")
    match scheduler.find(current.name, current.started):
        case Found(job):
            return job
        case Absent():
            return Job(current.job, current.name, JobState.GONE, reason="the scheduler does not know it")
        case Unsure(why):
            raise CouldNotLook(why)


def read_live_jobs(scheduler: Scheduler, contract: Contract) -> LiveJobs:
    return LiveJobs(scheduler.live(contract.slug))
