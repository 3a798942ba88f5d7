"""The log or a checkpoint shows steps whose rows are missing.

Why: it trains, and no check sees the loss, a spike or a NaN; the likely cause is a wrong path or id
in `[tracker]`.
Fix: look where the trainer reports to, and correct `[tracker] path`, or `project` and `id`; if
these are right, find out from the job's log why the tracker gets nothing (`WANDB_MODE`, key,
network).
"""

from herorun.core.check import Gate, Hold, Response, Topic, check
from herorun.core.contract import Contract
from herorun.core.evidence import (
    Checkpoints,
    History,
    Job,
    JobLog,
    Metrics,
    Nothing,
    Now,
    Unavailable,
)
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown
from herorun.core.health.liveness import FRESH, rows_since, steps_seen
from herorun.core.health.preconditions import not_running


@check(
    Gate.HEALTH,
    Response.WARN,
    hold=Hold(ticks=2),
    topic=Topic.MONITOR,
    inhibited_by=("silent-tracker",),
)
def unreported_steps(
    job: Job,
    contract: Contract,
    metrics: Metrics | Nothing,
    log: JobLog | Nothing | Unavailable,
    checkpoints: Checkpoints | Nothing | Unavailable,
    history: History,
    now: Now,
) -> Verdict:
    """Rows may be logged every few steps and arrive late, so only progress of more than two rows'
    distance beyond the newest row counts.
    """
    if verdict := not_running(job):
        return verdict
    since, wrote = rows_since(job, metrics, history, now.at)
    if wrote and since is not None and now.at - since <= FRESH:
        return passed(f"{job.instance} reports its steps", subject=job.instance)
    above = metrics.step + _spacing(metrics) if wrote and isinstance(metrics, Metrics) else None
    progress_sign = steps_seen(job, log, checkpoints, history, above)
    if not progress_sign:
        return _without_a_sign(job, log, checkpoints)
    rows = f"{_place(contract)} has no row of {job.instance}"
    if wrote and isinstance(metrics, Metrics):
        rows = f"the last row of {_place(contract)} is step {metrics.logged_step(metrics.step)}"
    message = f"{job.instance}: {progress_sign}, but {rows}; check whether the job reports there"
    return failed(message, *_tracker_runs_in_log(log), subject=job.instance)


def _without_a_sign(
    job: Job,
    log: JobLog | Nothing | Unavailable,
    checkpoints: Checkpoints | Nothing | Unavailable,
) -> Verdict:
    for name, source in (("the log", log), ("the checkpoints", checkpoints)):
        if isinstance(source, Unavailable):
            return unknown(f"could not read {name}: {source.why}", subject=job.instance)
    if isinstance(log, Nothing) and isinstance(checkpoints, Nothing):
        message = "there is neither a log nor a checkpoint to compare with the rows"
        return not_applicable(message, subject=job.instance)
    message = f"neither the log nor a checkpoint of {job.instance} shows a step without its row"
    return passed(message, subject=job.instance)


def _spacing(metrics: Metrics) -> int:
    """The distance of two rows, in steps."""
    return 2 * max((metrics.step - metrics.first_step) // max(metrics.rows, 1), 1)


def _place(contract: Contract) -> str:
    """Where herorun reads the rows from."""
    tracker = contract.tracker
    path = tracker.options.get("path") or tracker.options.get("folder")
    parts = [
        part for part in (tracker.entity, tracker.project, tracker.id or contract.slug) if part
    ]
    return f"{path or '/'.join(parts)} (tracker {tracker.kind})"


def _tracker_runs_in_log(log: JobLog | Nothing | Unavailable) -> list[str]:
    runs = log.runs if isinstance(log, JobLog) else ()
    return [f"its log names the tracker run {run}" for run in runs]
