"""Only some of the job's tasks run.

Why: an incomplete gang trains nothing, and the running part costs money.
Fix: find out which tasks wait and why; the DRI decides whether to stop the job (`herorun stop RUN`)
and submit it again.
Source: fifteen minutes are longer than all tasks usually need to start, and shorter than a wait for
capacity.
"""

from datetime import timedelta

from herorun.core.check import Gate, Hold, Response, Topic, check
from herorun.core.evidence import Job
from herorun.core.finding import Verdict, count, failed, not_applicable, passed, unknown


@check(Gate.HEALTH, Response.WARN, hold=Hold(timedelta(minutes=15)), topic=Topic.JOB)
def partial_allocation(job: Job) -> Verdict:
    if job.state.in_doubt:
        return unknown(
            f"the scheduler does not report whether {job.instance} runs", subject=job.instance
        )
    if not job.state.live or job.tasks is None or job.running_tasks is None:
        return not_applicable(
            f"{job.instance} {job.state.predicate}, and reports no tasks", subject=job.instance
        )
    verb = "runs" if job.running_tasks == 1 else "run"
    message = f"{job.running_tasks} of {count(job.tasks, 'task')} of {job.instance} {verb}"
    if 0 < job.running_tasks < job.tasks:
        return failed(
            f"{message}{f'; the reason of the rest is {job.reason}' if job.reason else ''}",
            subject=job.instance,
        )
    return passed(message, subject=job.instance)
