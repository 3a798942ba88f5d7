"""The running job's log contains an error, and no step or row came after it so far.

Why: a dead rank, a lost node or exhausted memory is in the log long before the scheduler ends the
job.
Fix: read the line in the log (`herorun logs RUN`). The alert ends when the log shows 20 more steps
or a row comes after it.
Source: marin-community/marin, job-monitoring loop: a traceback, an HBM report or a dead node in the
log is examined at once; "noisy shutdown traces are not decisive", so this alone only notifies.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.evidence import History, Job, JobLog, Metrics, Nothing, Now, Unavailable
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.health.log_errors import describe_complaint, idle_since, worst_complaint
from herorun.core.health.preconditions import not_running


@check(Gate.HEALTH, Response.WARN, topic=Topic.JOB, inhibited_by=("failing-log",))
def error_in_log(
    job: Job,
    log: JobLog | Nothing,
    metrics: Metrics | Nothing | Unavailable,
    history: History,
    now: Now,
) -> Verdict:
    """Without rows, only the steps in the log show that the training continued."""
    if verdict := not_running(job):
        return verdict
    if isinstance(log, Nothing):
        return not_applicable(log.why or "no log was read", subject=job.instance)
    worst = worst_complaint(log)
    if worst is None:
        message = f"the log of {job.instance} contains no error that counts"
        return passed(message, subject=job.instance)
    rows = Nothing() if isinstance(metrics, Unavailable) else metrics
    if idle_since(worst, job, rows, history, now.at) is None:
        return passed(
            f"steps came after the error {describe_complaint(worst)}", subject=job.instance
        )
    advice = f". {worst.advice}" if worst.advice else ""
    message = f"{job.instance} is running, with an error: {describe_complaint(worst)}{advice}"
    return failed(message, subject=job.instance)
