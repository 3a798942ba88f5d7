"""A job of the run, or a part of one, is still live.

Why: a coordinator can end with success while its gang, or an older instance, still writes into the
root that is being sealed.
Fix: wait for its end. Only if the DRI aborts the run: `herorun stop RUN`, then
`herorun seal RUN --aborted`.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Job, LiveJobs, Nothing
from herorun.core.finding import Verdict, count, failed, passed, unknown


@check(Gate.SEAL, Response.BLOCK)
def surviving_job(live: LiveJobs, job: Job | Nothing) -> list[Verdict]:
    """One verdict for each job that is live or may be."""
    doubtful = {each.instance: each for each in live.jobs if each.state.in_doubt}
    living = {
        each.instance: f"{each.instance} is {each.state}" for each in live.jobs if each.state.live
    }
    if isinstance(job, Job) and job.running_tasks:
        parts = (
            f"{job.running_tasks} of "
            f"{count(job.tasks, 'part') if job.tasks else 'its parts'} still run"
        )
        living.setdefault(job.instance, f"{job.instance} {job.state.predicate}, but {parts}")
    open_ones = [failed(message, subject=name) for name, message in sorted(living.items())]
    open_ones += [
        unknown(
            f"it is unknown whether {name} is live ({each.reason or each.raw or each.state}): "
            "check on the job's machine",
            subject=name,
        )
        for name, each in sorted(doubtful.items())
    ]
    return open_ones or [passed("no job of the run is live")]
