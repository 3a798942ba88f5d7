"""The job continued from a different step than the planned one.

Why: a curve from scratch, or from an older or a rejected checkpoint, looks plausible too, and days
of work are repeated or lost; a wrong namespace starts a second run under the first one's name.
Fix: stop the job (`herorun stop RUN`); find out how the trainer picks its checkpoint, and launch
again from the one in the plan.
Source: marin-community/marin, delphi resume namespace: two recoveries began at step 0 with a
checkpoint at 3541. The rows with the role `loading` in docs/triage.md are the patterns for the log.
"""

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.contract import Contract
from herorun.core.evidence import (
    Checkpoints,
    History,
    Job,
    JobLog,
    Metrics,
    Nothing,
    PriorLaunch,
    Receipt,
    Unavailable,
)
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown
from herorun.core.health.logged_start import fall_back, log_wrong, saved_below
from herorun.core.health.resume_point import (
    PlannedStart,
    ResumeRows,
    began_again,
    loaded_wrong,
    own_start,
    rows_wrong,
    start_of,
)
from herorun.core.notify.escalation import EscalationReason


@check(
    Gate.HEALTH,
    Response.ESCALATE,
    topic=Topic.JOB,
    vetoes_relaunch=True,
    asks=EscalationReason.LINEAGE,
)
def wrong_resume(
    job: Job,
    prior: PriorLaunch,
    receipt: Receipt | Nothing | Unavailable,
    metrics: Metrics | Nothing | Unavailable,
    checkpoints: Checkpoints | Nothing | Unavailable,
    history: History,
    log: JobLog | Nothing | Unavailable,
    contract: Contract,
) -> Verdict:
    """Any evidence that contradicts the plan decides: the receipt, the log, a checkpoint below the
    start, the first row.
    """
    if prior.instance != job.instance:
        return not_applicable(f"the newest plan is that of {prior.instance}", subject=job.instance)
    if prior.adopted:
        return _of_adopted(job, log)
    start = start_of(prior)
    ours = receipt if isinstance(receipt, Receipt) and receipt.instance == job.instance else None
    all_saves = checkpoints if isinstance(checkpoints, Checkpoints) else Checkpoints()
    by_log = _by_log(start, log, all_saves, history, contract)
    wrong = (
        loaded_wrong(start, ours, all_saves)
        or (by_log.wrong if by_log else "")
        or _by_saves(start, all_saves, history)
    )
    if wrong:
        return failed(f"{job.instance} {wrong}", subject=job.instance)
    if isinstance(metrics, Unavailable):
        return _report_unavailable_start(job, metrics)
    if isinstance(receipt, Unavailable):
        return _report_unavailable_start(job, receipt)
    by_rows = None
    if isinstance(metrics, Metrics) and history.wrote(metrics):
        all_there = Checkpoints(
            (*all_saves.candidates, *all_saves.given_up)
        )  # a trainer that chooses for itself may take any
        by_rows = rows_wrong(start, metrics, all_there, history)
        if again := began_again(metrics, all_saves, history):
            return failed(f"{job.instance} {again}", subject=job.instance)
    if by_rows and by_rows.wrong:
        return failed(f"{job.instance} {by_rows.wrong}", subject=job.instance)
    if witness := by_rows or by_log:
        return passed(f"{job.instance} {witness.right}", subject=job.instance)
    return not_applicable(f"{job.instance}: {_silent(metrics, history)}", subject=job.instance)


def _report_unavailable_start(job: Job, source: Unavailable) -> Verdict:
    message = f"could not read where {job.instance} began: {source.why}"
    return unknown(message, subject=job.instance)


def _silent(metrics: Metrics | Nothing, history: History) -> str:
    if isinstance(metrics, Nothing) or not history.wrote(metrics):
        return "no row yet, and its log does not say what it loaded"
    return "neither its rows nor its log show where it began"


def _by_log(
    start: PlannedStart,
    log: JobLog | Nothing | Unavailable,
    all_saves: Checkpoints,
    history: History,
    contract: Contract,
) -> ResumeRows | None:
    if not isinstance(log, JobLog) or history.current is None:
        return None
    own = own_start(all_saves, history)
    return log_wrong(start, log, all_saves, history.current, contract.tracker.first_step, own)


def _by_saves(start: PlannedStart, all_saves: Checkpoints, history: History) -> str:
    return saved_below(start, all_saves, history.current) if history.current else ""


def _of_adopted(job: Job, log: JobLog | Nothing | Unavailable) -> Verdict:
    """No plan states the start; but a loader that fell back to another checkpoint is reported."""
    fell = fall_back(log.loading) if isinstance(log, JobLog) else None
    if fell:
        message = (
            f"{job.instance} was adopted, and reported in line {fell.line} of its log: "
            f"{fell.excerpt}; herorun did not choose its start"
        )
        return unknown(message, subject=job.instance)
    return not_applicable(
        f"{job.instance} was adopted: herorun did not choose its start", subject=job.instance
    )
