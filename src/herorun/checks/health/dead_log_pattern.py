"""A log pattern that the run relies on no longer matches, while the job makes progress.

Why: a monitor that waits for words that the job does not print sees no failure.
Fix: look at what the job prints now (`herorun logs RUN`), and correct the row of the `[babysit]
signatures`, its `due_mib`, or `[tracker]`.
Source: marin-community/marin, NCCL hang: two patterns that were searched for could not be printed
by the deployed jaxlib.
"""

from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.contract import Contract
from herorun.core.evidence import Checkpoints, History, Job, JobLog, Metrics, Nothing, TrackerTraits
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.health.checkpoint_lag import job_start
from herorun.core.health.preconditions import not_running
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveInt


@dataclass(frozen=True)
class Limits:
    """A progress line is due within `progress_bytes` of log; Levanter prints one much sooner."""

    RENAMED: ClassVar = {"progress": "progress_bytes"}

    progress_bytes: PositiveInt = 16 << 20


@check(Gate.HEALTH, Response.WARN, topic=Topic.MONITOR)
def dead_log_pattern(
    job: Job,
    contract: Contract,
    log: JobLog,
    metrics: Metrics | Nothing,
    checkpoints: Checkpoints | Nothing,
    history: History,
    tracker: TrackerTraits,
    limits: Limits,
) -> list[Verdict]:
    """One verdict for each row that states when a line is due (`due_mib`) and had one or is late,
    and one for the progress lines that the tracker reads, such as Levanter's.
    """
    if verdict := not_running(job):
        return [verdict]
    verdicts = [
        failed(
            f"no line in the last {_mib(silent)} of the log of {job.instance} matches {name}; "
            f"one is due every {_mib(due)}",
            subject=name,
        )
        for name, due, silent in log.overdue
    ]
    verdicts += [
        passed(f"the log of {job.instance} has a recent line that matches {name}", subject=name)
        for name in log.matching
    ]
    if tracker.progress_lines and isinstance(metrics, Metrics) and history.wrote(metrics):
        message = f"the tracker's log has {tracker.progress_lines} progress lines"
        verdicts.append(passed(message, subject=contract.tracker.kind))
    elif tracker.progress_lines:
        why = _format_progress(job, log, checkpoints, history, limits)
        message = (
            f"the tracker's log has none of {tracker.progress_lines} progress lines, but {why}"
        )
        verdicts += [failed(message, subject=contract.tracker.kind)] if why else []
    return verdicts or [not_applicable("no line of a log pattern is due yet")]


def _format_progress(
    job: Job, log: JobLog, checkpoints: Checkpoints | Nothing, history: History, limits: Limits
) -> str:
    start = job_start(job, history)
    newest = checkpoints.newest if isinstance(checkpoints, Checkpoints) else None
    if newest and newest.modified and start and newest.modified > start:
        return f"checkpoint {newest.step} was saved at {newest.modified:%H:%M} UTC"
    return f"the job has printed {_mib(log.size)}" if log.size > limits.progress_bytes else ""


def _mib(size: int) -> str:
    return f"{size / (1 << 20):.0f} MiB"
