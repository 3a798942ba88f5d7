"""A job that was stopped by herorun reported success before its final step.

Why: a trainer that saves and exits with code 0 on a stop request looks finished, and is not.
Fix: continue from its newest checkpoint (`herorun relaunch RUN`), or let the DRI accept the result
in a waiver of `short-of-final-step`, and seal it.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Checkpoints, FinalStep, History, Job, JobState, Metrics, Nothing
from herorun.core.finding import Verdict, failed, not_applicable, passed


@check(Gate.HEALTH, Response.INFO)
def stopped_short(
    job: Job,
    final: FinalStep,
    metrics: Metrics | Nothing,
    checkpoints: Checkpoints,
    history: History,
) -> Verdict:
    """The finding is shown, and the run counts as down, not finished. A person ordered the stop, so
    no notification is sent.
    """
    stopped_by = dict(history.stopped).get(job.instance)
    if job.state is not JobState.SUCCEEDED or not stopped_by:
        stop_note = "" if stopped_by else ", and no `herorun stop` ended it"
        message = f"{job.instance} {job.state.predicate}{stop_note}"
        return not_applicable(message, subject=job.instance)
    last_step = history.last_step(metrics, checkpoints)
    if final.value is not None and last_step >= final.value:
        return passed(
            f"{job.instance} reached step {last_step} of {final.value}", subject=job.instance
        )
    until = "; the final step is unknown" if final.value is None else f" of {final.value}"
    message = f"{job.instance} was stopped on behalf of {stopped_by}, and ended at step "
    message += f"{last_step}{until}"
    return failed(message, subject=job.instance)
