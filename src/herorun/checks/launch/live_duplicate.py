"""A job of this run is already queued or running, or may be.

Why: two jobs in one output root corrupt each other's checkpoints and metrics, and you pay for both.
Fix: let it run (`herorun babysit RUN`), or stop it first (`herorun stop RUN`). If the scheduler no
longer lists the job, and you know that it has ended, `herorun stop RUN` records its end. It refuses
that while rows or checkpoints of the run are recent.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.evidence import Job, JobState, LiveJobs
from herorun.core.finding import Verdict, failed, passed


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.BLOCK, always=True)
def live_duplicate(live: LiveJobs) -> list[Verdict]:
    """One verdict for each job; a job in an unknown state may be live, so it counts."""
    if not live.jobs:
        return [passed("no job of this run is live")]
    return [
        _report_live_job(job) for job in sorted(live.jobs, key=lambda job: (job.instance, job.id))
    ]


def _report_live_job(job: Job) -> Verdict:
    may_live = job.state is JobState.UNKNOWN
    message = (
        f"it is unknown whether {job.instance} (job {job.id}) is live"
        if may_live
        else f"{job.instance} {job.state.predicate} as job {job.id}"
    )
    return failed(f"{message}: {job.reason}" if job.reason else message, subject=job.instance)
