"""The running job's log says that other work slows its host.

Why: a noisy neighbour, throttled processors or exhausted threads slow every step, and look like a
bug of the run.
Fix: compare the job's cgroup with the machine, limit its threads to its cores, and ask for an
exclusive host.
Source: the babysitters' patterns for remote machines: check load average and nr_throttled before
you blame the trainer.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import Job, JobLog
from herorun.core.finding import Verdict, failed, passed
from herorun.core.health.log_errors import describe_complaint
from herorun.core.health.preconditions import not_running


@check(Gate.HEALTH, Response.WARN, topic=Topic.JOB)
def host_contention(job: Job, log: JobLog) -> Verdict:
    """The line counts for the next 2,000 lines of the log, even if steps follow."""
    if verdict := not_running(job):
        return verdict
    if log.crowded is None:
        return passed(
            f"the log of {job.instance} reports no contention on its host", subject=job.instance
        )
    return failed(
        f"{job.instance}: {describe_complaint(log.crowded)}. {log.crowded.advice}",
        subject=job.instance,
    )
