"""The job reported success before its final step, and nobody had stopped it.

Why: exit code 0 is a claim; a trainer that was asked to stop, or that counts steps differently,
also returns it.
Fix: read in the job's log why it ended (`herorun logs RUN`); the DRI launches again (`herorun
launch RUN`), or seals the result with a waiver of `short-of-final-step`.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Checkpoints, FinalStep, History, Job, JobState, Metrics, Nothing
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.notify.escalation import EscalationReason


@check(Gate.HEALTH, Response.ESCALATE, asks=EscalationReason.UNVERIFIED)
def ended_short(
    job: Job,
    final: FinalStep,
    metrics: Metrics | Nothing,
    checkpoints: Checkpoints,
    history: History,
) -> Verdict:
    stopped_by = dict(history.stopped).get(job.instance)
    if stopped_by:
        message = f"{job.instance} was stopped on behalf of {stopped_by}: see stopped-short"
        return not_applicable(message, subject=job.instance)
    if job.state is not JobState.SUCCEEDED:
        return not_applicable(f"{job.instance} {job.state.predicate}", subject=job.instance)
    if final.value is None:
        return failed(
            f"{job.instance} ended, and its planned final step is unknown", subject=job.instance
        )
    last_step = history.last_step(metrics, checkpoints)
    if last_step < final.value:
        where = f"at step {last_step} of {final.value}"
        if not isinstance(metrics, Metrics) and checkpoints.newest is None:
            where = f"without a row or a checkpoint; the final step is {final.value}"
        return failed(f"{job.instance} ended with success {where}", subject=job.instance)
    return passed(f"{job.instance} reached step {last_step} of {final.value}", subject=job.instance)
