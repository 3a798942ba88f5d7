"""Jobs, as the scheduler tells of them."""

from herorun.core.contract import Contract
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import History, Job, JobState, LiveJobs, Nothing
from herorun.core.ports import Absent, Found, Scheduler, Unsure


def read_job(scheduler: Scheduler, history: History) -> Job | Nothing:
    """The current instance's job. Of one that the scheduler no longer knows, nobody can say how it ended."""
    current = history.current
    if current is None:
        return Nothing("no instance was launched yet")
    match scheduler.find(current.name, current.intended or current.started):
        case Found(job):
            return job
        case Absent():
            raise CouldNotLook(
                f"the scheduler does not know {current.name}; it may run elsewhere, or its traces are gone"
            )
        case Unsure(why):
            raise CouldNotLook(why)


def read_live_jobs(scheduler: Scheduler, contract: Contract, history: History) -> LiveJobs:
    """What is live, and the recorded current instance where this scheduler does not know it: it may run elsewhere."""
    live = scheduler.live(contract.slug)
    current = history.current
    if current is None or any(job.instance == current.name for job in live):
        return LiveJobs(live)
    match scheduler.find(current.name, current.intended or current.started):
        case Found(job) if job.state.ended:
            return LiveJobs(live)
        case Found(job):
            return LiveJobs((*live, job))
        case Absent():
            lost = Job(current.job, current.name, JobState.UNKNOWN, reason="recorded, and not known here")
            return LiveJobs((*live, lost))
        case Unsure(why):
            raise CouldNotLook(why)
