"""The state of an instance, from squeue and sacct together. Pure.

A job has ended when sacct reports it as ended and squeue no longer lists it, or lists it as ended:
sacct calls a job that was put back into the queue PREEMPTED, NODE_FAIL or REQUEUED until it runs
again, and lags behind by seconds otherwise.
"""

import signal
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from herorun.core.evidence import Job, JobState
from herorun.core.finding import count
from herorun.core.lazy_dataclass import dataclass
from herorun.core.ports import Absent, Found, Search, Unknown
from herorun.schedulers._slurm.parse import SlurmRow
from herorun.schedulers._slurm.state_names import cancelled_by, slurm_state_of
from herorun.schedulers._submission_record import SubmissionRecord

# between this clock and the cluster's: an older job of the name is another's
SKEW = timedelta(minutes=10)
# numbers beyond any signal: 125 is memory, 53 a log that cannot be opened
_SLURM_OWN = range(64, 128)
_NOT_OPENED = 53


@dataclass(frozen=True)
class Accounting:
    """What accounting answered."""

    rows: Sequence[SlurmRow] = ()
    silent: str = ""  # why it reported nothing
    is_disabled: bool = False  # the cluster keeps no accounting


def ours(
    rows: Sequence[SlurmRow],
    instance: str,
    run: str,
    record: SubmissionRecord,
    since: datetime | None,
) -> list[SlurmRow]:
    """The rows of this very instance, newest job first: whole name, our comment or the id that was
    written down. A live one of that id is ours whatever the clocks say: this one may have been
    ahead at `since`.
    """
    own_rows = [
        row
        for row in rows
        if row.name == instance
        and not _was_refused(row)
        and (row.id == record.id or (row.tag.run == run if row.tag else False))
        and (
            since is None
            or row.submitted is None
            or row.submitted >= since - SKEW
            or (row.id == record.id and slurm_state_of(row.word).live)
        )
    ]
    return sorted(
        own_rows,
        key=lambda row: (row.submitted.timestamp() if row.submitted else 0, int(row.id)),
        reverse=True,
    )


def _was_refused(row: SlurmRow) -> bool:
    """Slurm keeps a failed job of some submissions that it has refused: it never had a node."""
    return row.word == "FAILED" and not row.node_list


def needs_accounting(queue: Sequence[SlurmRow]) -> bool:
    """A job that the controller lists as live is live, whatever accounting reports."""
    return not queue or any(not slurm_state_of(row.word).live for row in queue)


def judge_slurm(
    instance: str,
    queue: Sequence[SlurmRow],
    accounting_rows: Sequence[SlurmRow],
    accounting: Accounting,
    record: SubmissionRecord,
) -> Search:
    """`queue` and `accounting_rows` are `ours` of each. `Absent` does not count before the settle
    time is over: the caller sees to that.

    Of two that were submitted at once, the later one has been cancelled: it is not how the instance
    ended.
    """
    numbers = list(dict.fromkeys(row.id for row in queue if slurm_state_of(row.word).live))
    if len(numbers) > 1:
        return Unknown(
            f"{count(len(numbers), 'job')} called {instance} are live: {', '.join(numbers)}. "
            "Cancel all but one with scancel."
        )
    ids = {row.id for row in (*queue, *accounting_rows)}
    if not ids:
        return _not_found(instance, accounting, record)
    stays = numbers[0] if numbers else record.id if record.id in ids else min(ids, key=int)
    queue_rows = [row for row in queue if row.id == stays]
    rows_of_job = [row for row in accounting_rows if row.id == stays]
    return Found(_build_slurm_job(instance, queue_rows, rows_of_job, accounting, record))


def live_jobs(rows: Sequence[SlurmRow]) -> tuple[Job, ...]:
    """Those of the controller's jobs that live, or may: by name, then number."""
    parts: dict[tuple[int, str, int], list[SlurmRow]] = {}
    for row in rows:
        parts.setdefault((len(row.name), row.name, int(row.id)), []).append(row)
    jobs = [_job_of_row(key[1], _deciding_row(parts[key]), parts[key]) for key in sorted(parts)]
    return tuple(job for job in jobs if not job.state.is_final)


def _not_found(instance: str, accounting: Accounting, record: SubmissionRecord) -> Search:
    if accounting.silent:
        return Unknown(accounting.silent)
    if accounting.is_disabled and (record.is_ours or record.id):
        why = (
            f"Slurm keeps no accounting here, and its controller does not know {instance} any more"
        )
        if record.id is None:
            return Unknown(f"{why}; it is unknown whether it was submitted")
        return Found(
            Job(
                id=record.id,
                instance=instance,
                state=JobState.GONE,
                reason=f"{why}: how it ended is unknown",
            )
        )
    if record.id is None:
        return Absent()
    why = f"neither squeue nor sacct knows job {record.id}, which was submitted as {instance}"
    return Unknown(why, forgotten=True)


def _build_slurm_job(
    instance: str,
    queue_rows: Sequence[SlurmRow],
    rows_of_job: Sequence[SlurmRow],
    accounting: Accounting,
    record: SubmissionRecord,
) -> Job:
    row = _deciding_row(queue_rows) if queue_rows else _deciding_row(rows_of_job)
    job = _job_of_row(instance, row, queue_rows or rows_of_job)
    state = slurm_state_of(row.word)
    if queue_rows and not state.is_final:
        return job
    if not queue_rows:
        return _from_accounting(job, row, record)
    if accounting.is_disabled:
        return _add_slurm_end(job, row, None, record)
    if accounting.silent:
        return replace(
            job, state=JobState.UNKNOWN, reason=f"squeue says {row.word}; {accounting.silent}"
        )
    if not rows_of_job or not slurm_state_of(_deciding_row(rows_of_job).word).is_final:
        return replace(
            job, state=JobState.RUNNING, reason="it is ending: accounting does not say so yet"
        )
    return _add_slurm_end(job, row, _deciding_row(rows_of_job), record)


def _deciding_row(rows: Sequence[SlurmRow]) -> SlurmRow:
    """The part of an array or a heterogeneous job that decides: one that lives, otherwise one that
    did not succeed.
    """

    def rank(row: SlurmRow) -> int:
        state = slurm_state_of(row.word)
        return (
            0
            if state is JobState.RUNNING
            else 1
            if not state.is_final
            else 2
            if state is not JobState.SUCCEEDED
            else 3
        )

    return min(rows, key=rank)


def _job_of_row(instance: str, row: SlurmRow, parts: Sequence[SlurmRow]) -> Job:
    state = slurm_state_of(row.word)
    tasks = len(parts) if len(parts) > 1 else row.nodes
    running = sum(slurm_state_of(part.word) is JobState.RUNNING for part in parts)
    running = running if len(parts) > 1 else (row.nodes or 0) * running
    return Job(
        id=row.id,
        instance=instance,
        state=state,
        raw=row.word,
        reason=row.reason or ("" if state is not JobState.UNKNOWN else f"Slurm says {row.word!r}"),
        started=row.started if state is not JobState.PENDING else None,
        submitted=row.submitted,
        tasks=tasks,
        running_tasks=running if state.live else None,
    )


def _from_accounting(job: Job, row: SlurmRow, record: SubmissionRecord) -> Job:
    """A job that only accounting has. One that it reports as live is unknown to the controller."""
    if job.state.is_final:
        return _add_slurm_end(job, row, row, record)
    why = f"sacct says {row.word}, and squeue does not know job {row.id}"
    return replace(job, state=JobState.UNKNOWN, reason=why, running_tasks=None)


def _add_slurm_end(
    job: Job, row: SlurmRow, accounting_row: SlurmRow | None, record: SubmissionRecord
) -> Job:
    """How it ended. If Slurm ended it, Slurm's own signal and a code of 0 are no evidence about the
    job.
    """
    ended_job = replace(
        job,
        raw=accounting_row.word if accounting_row else row.word,
        ended=(accounting_row and accounting_row.ended) or row.ended,
    )
    if job.state is JobState.SUCCEEDED:
        return replace(ended_job, exit_code=row.exit_code)
    if job.state is JobState.FAILED:
        return _add_failure(ended_job, row, only_accounting=accounting_row is row)
    if not row.node_list:
        # it never ran
        ended_job, row = replace(ended_job, started=None), replace(row, exit_code=None)
        if job.state is JobState.TIMED_OUT:
            return replace(ended_job, state=JobState.UNSCHEDULABLE)
    ended_job = replace(ended_job, exit_code=row.exit_code or None, failed_on=_failed_on(job, row))
    return (
        _attribute_cancel(ended_job, row, accounting_row, record)
        if job.state is JobState.CANCELLED
        else ended_job
    )


def _add_failure(job: Job, row: SlurmRow, only_accounting: bool) -> Job:
    """squeue's exit code is whole; sacct's lacks 128 where it is 128 or more."""
    if row.signal == _NOT_OPENED:
        why = "Slurm could not open the log or the working folder on the node"
        return replace(job, reason=why)
    if only_accounting and row.exit_code is not None:
        code, problem = _from_sacct(row.exit_code)
        return replace(job, exit_code=code, reason=job.reason or problem)
    return replace(job, exit_code=row.exit_code, signal=_signal(row))


def _attribute_cancel(
    job: Job, row: SlurmRow, accounting_row: SlurmRow | None, record: SubmissionRecord
) -> Job:
    """Who cancelled it: from our own stop, otherwise by the user's number in accounting."""
    number = cancelled_by(accounting_row.word) if accounting_row else None
    if number is None and "Dependency" in row.reason:
        return replace(job, state=JobState.UNSCHEDULABLE)
    by = (row.tag and row.tag.by) or record.by or (f"uid {number}" if number else None)
    return replace(job, stopped_by=by)


def _from_sacct(code: int) -> tuple[int, str]:
    """
    >>> _from_sacct(0)[0], _from_sacct(9)
    (128, (9, 'sacct says exit code 9, which may be 137'))
    """
    if code == 0:
        return 128, "sacct says exit code 0 of a job that failed"
    return code, f"sacct says exit code {code}, which may be {code + 128}" if code >= 1 else ""


def _signal(row: SlurmRow) -> str | None:
    if row.signal is None or row.signal in _SLURM_OWN:
        return None
    try:
        return signal.Signals(row.signal).name
    except ValueError:
        return f"signal {row.signal}"


def _failed_on(job: Job, row: SlurmRow) -> tuple[str, ...]:
    """The node that failed; empty for a job of several nodes, of which Slurm does not say which one
    failed.
    """
    alone = job.state is JobState.NODE_FAILED and row.nodes == 1 and row.node_list
    return (row.node_list,) if alone else ()
