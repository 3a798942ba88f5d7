"""A person stopped the job.

Why: a person who stops a run has a reason; starting it again would undo the decision.
Fix: the DRI decides: leave it, or start it again by its last plan (`herorun relaunch RUN`).
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import History, Job
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.JOB, vetoes_relaunch=True)
def stopped_by_hand(job: Job, history: History) -> Verdict:
    if job.state.in_doubt:
        return unknown(
            f"the scheduler does not report the state of {job.instance}", subject=job.instance
        )
    stopped_by = dict(history.stopped).get(job.instance)
    if job.stopped_by_hand and stopped_by:
        return not_applicable(
            f"{job.instance} was stopped by `herorun stop`, on behalf of {stopped_by}",
            subject=job.instance,
        )
    if job.stopped_by_hand:
        return failed(
            f"{job.instance} was stopped by {job.stopped_by}"
            if job.stopped_by
            else f"{job.instance} was cancelled, and the scheduler reports neither by whom nor why",
            subject=job.instance,
        )
    return passed(f"the scheduler names no person who stopped {job.instance}", subject=job.instance)
