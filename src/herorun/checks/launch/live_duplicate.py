"""A job of this run is already queued or running, or may be.

Why: two jobs in one output root corrupt each other's checkpoints and metrics, and you pay for both.
Fix: let it run (`herorun babysit RUN`), or stop it first (`herorun stop RUN`). If the scheduler no
longer lists the job, and you know that it has ended, `herorun stop RUN` records its end. It refuses
that while rows or checkpoints of the run are recent.
"""

from herorun.core.check import AtRelaunch, Gate, Response, check
from herorun.core.evidence import Job, JobState, LiveJobs, Nothing, OpenLaunch
from herorun.core.finding import Verdict, failed, passed, unknown


@check(Gate.LAUNCH, Response.BLOCK, at_relaunch=AtRelaunch.BLOCK, always=True)
def live_duplicate(live: LiveJobs, launch: OpenLaunch | Nothing) -> list[Verdict]:
    """One verdict for each job; a job in an unknown state may be live, so it counts. So does an
    interrupted launch under an earlier `[scheduler]`.
    """
    jobs = sorted(live.jobs, key=lambda job: (job.instance, job.id))
    verdicts = [_report_live_job(job) for job in jobs]
    if isinstance(launch, OpenLaunch):
        verdicts.append(_report_open_launch(launch))
    return verdicts or [passed("no job of this run is live")]


def _report_open_launch(launch: OpenLaunch) -> Verdict:
    if launch.job:
        return _report_live_job(launch.job)
    message = f"{launch.instance} may have been submitted under an earlier [scheduler]"
    return unknown(f"{message}: {launch.why}", subject=launch.instance)


def _report_live_job(job: Job) -> Verdict:
    may_live = job.state is JobState.UNKNOWN
    message = (
        f"it is unknown whether {job.instance} (job {job.id}) is live"
        if may_live
        else f"{job.instance} {job.state.predicate} as job {job.id}"
    )
    return failed(f"{message}: {job.reason}" if job.reason else message, subject=job.instance)
