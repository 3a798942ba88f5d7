"""The job has not ended with success.

Why: a seal over a run that failed, was stopped or still writes would sign something that is not
true.
Fix: wait for the job's end, or relaunch it. If its final checkpoint is complete, `herorun waive
job-not-succeeded RUN` prints a waiver to commit. If the DRI aborts the run, `herorun seal RUN
--aborted` seals it without a successful job.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Job, JobState, Nothing
from herorun.core.finding import Verdict, failed, passed, unknown


@check(Gate.SEAL, Response.BLOCK)
def job_not_succeeded(job: Job | Nothing) -> Verdict:
    if isinstance(job, Nothing):
        return failed("no instance of this run was ever launched")
    if job.state.in_doubt:
        return unknown(
            f"the scheduler does not report the state of {job.instance}", subject=job.instance
        )
    if job.state is JobState.SUCCEEDED:
        return passed(f"{job.instance} succeeded", subject=job.instance)
    message = f"{job.instance} is still {job.state}" if job.state.live else job.ending
    return failed(message, subject=job.instance)
