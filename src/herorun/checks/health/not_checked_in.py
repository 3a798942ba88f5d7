"""The job trains and has not checked in.

Why: without a receipt nobody knows whether what runs is what was admitted.
Fix: call `herorun.check_in()` in the training script before the first step; or let the DRI waive it.
"""

from herorun.core.check import Gate, Hold, Response, Topic, check
from herorun.core.evidence import History, Job, Metrics, Nothing, Receipt
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown


@check(Gate.HEALTH, Response.WARN, hold=Hold(ticks=2), topic=Topic.JOB)
def not_checked_in(job: Job, metrics: Metrics, history: History, receipt: Receipt | Nothing) -> Verdict:
    ours = isinstance(receipt, Receipt) and receipt.instance == job.instance
    if ours or job.instance in history.checked_in:
        return passed(f"{job.instance} checked in", subject=job.instance)
    if job.state.in_doubt:
        return unknown(f"the scheduler cannot say whether {job.instance} runs", subject=job.instance)
    if not job.state.live or not history.wrote(metrics):
        return not_applicable(f"{job.instance} is {job.state} and reports no step", subject=job.instance)
    return failed(f"{job.instance} is at step {metrics.step} without a receipt", subject=job.instance)
