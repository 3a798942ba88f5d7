"""What Iris' rows show about an instance. Pure.

The submitted job is usually a small coordinator, and the gang with the accelerators is its child. A
running coordinator does not mean that the gang runs, so the instance runs only if the gang does.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from herorun.core.evidence import Job, JobState
from herorun.core.ports import Found, Search, Unknown
from herorun.schedulers._iris.parse import IrisRow
from herorun.schedulers._iris.state_names import iris_state_of, plain, refine_state, waits
from herorun.schedulers._submission_record import SubmissionRecord

# between this clock and the cluster's: an older job of the name is not ours
SKEW = timedelta(minutes=10)


def root_of(rows: Sequence[IrisRow], job: str) -> IrisRow | None:
    """The row with exactly this name: a list by prefix also has siblings and children."""
    return next((row for row in rows if row.id == job), None)


def gang_of(rows: Sequence[IrisRow], job: str, gang: str | None) -> list[IrisRow]:
    """The children with the accelerators: the one of that name, or all; with their own children."""
    below = f"{job}/{gang}" if gang else job
    return [row for row in rows if row.id.startswith(f"{below}/") or (gang and row.id == below)]


def judge_iris(
    instance: str,
    root: IrisRow,
    gang: Sequence[IrisRow],
    record: SubmissionRecord,
    intended_at: datetime,
    gang_name: str | None,
) -> Search:
    """`gang_name` is the gang that the contract names. A live job that was submitted from here is
    ours even if the clocks disagree: this clock may have been ahead at `intended_at`.
    """
    is_ours = record.id == root.id and iris_state_of(root.word).live
    if not is_ours and root.submitted and root.submitted < intended_at - SKEW:
        return Unknown(
            f"{root.id} was submitted at {root.submitted:%Y-%m-%d %H:%M:%SZ}, before {instance} "
            "was meant to be: "
            "it is another job of that name"
        )
    return Found(_build_iris_job(instance, root, gang, record, gang_name))


def _build_iris_job(
    instance: str,
    root: IrisRow,
    gang: Sequence[IrisRow],
    record: SubmissionRecord,
    gang_name: str | None,
) -> Job:
    state = iris_state_of(root.word)
    live = [row for row in gang if iris_state_of(row.word).live]
    job = Job(
        id=root.id, instance=instance, state=state, raw=root.word, reason=root.reason, started=root.started, submitted=root.submitted,  # noqa: E501  # one entry of a table, or one recorded value
        tasks=root.tasks, running_tasks=_running([root]) if state.live else None,
    )  # fmt: skip
    if state is JobState.UNKNOWN:
        return replace(job, reason=root.reason or f"Iris says {root.word!r}")
    if state is not JobState.RUNNING:
        return (
            _still_alive(job, root, live)
            if state.is_final and live
            else _add_iris_end(job, root, gang, record)
        )
    if live:
        return _as_the_gang(job, root, live)
    if gang_name and not gang:
        why = f"the coordinator runs, and has not submitted its gang {gang_name} yet"
        return replace(job, state=JobState.BUILDING, reason=why, tasks=None, running_tasks=None)
    job = replace(job, state=waits(root.counts) or state)
    gang_states = "; ".join(f"its gang {row.id} is {plain(row.word)}" for row in gang)
    return replace(job, reason=job.reason or gang_states)


def _as_the_gang(job: Job, root: IrisRow, live: Sequence[IrisRow]) -> Job:
    """The job with the gang's state: running if any part runs; otherwise the most advanced
    state.
    """
    states = {row.id: waits(row.counts) or iris_state_of(row.word) for row in live}
    order = (JobState.RUNNING, JobState.BUILDING, JobState.PENDING)
    first = min(live, key=lambda row: order.index(states[row.id]))
    state, running = states[first.id], _running(live)
    pending = (
        ""
        if state is JobState.RUNNING
        else f"the coordinator is {plain(root.word)}, and its gang {first.id} waits"
    )
    return replace(
        job,
        state=state,
        raw=f"{root.word}; gang {first.word}",
        reason="; ".join(part for part in (pending, first.reason) if part),
        started=first.started if state is JobState.RUNNING else None,
        tasks=_sum([row.tasks for row in live]),
        running_tasks=running if running is not None or state is JobState.RUNNING else 0,
    )


def _still_alive(job: Job, root: IrisRow, live: Sequence[IrisRow]) -> Job:
    """The job as still live: a gang that outlives its coordinator continues to write."""
    as_gang = _as_the_gang(job, root, live)
    why = (
        f"the coordinator is {plain(root.word)}, and its gang {live[0].id} is not: it may still "
        "write"
    )
    return replace(as_gang, reason=f"{why}; {root.reason}" if root.reason else why)


def _add_iris_end(
    job: Job, root: IrisRow, gang: Sequence[IrisRow], record: SubmissionRecord
) -> Job:
    if job.state.live:
        return job
    state = refine_state(job.state, root.reason)
    odd = [row for row in gang if plain(row.word) != plain(root.word)]
    reasons = [root.reason, *(f"its gang {row.id} is {plain(row.word)}" for row in odd)]
    ended_job = replace(
        job, state=state, ended=root.ended, reason="; ".join(part for part in reasons if part)
    )
    if state is JobState.SUCCEEDED:
        return replace(ended_job, exit_code=0)
    if state is JobState.CANCELLED:
        return replace(ended_job, stopped_by=record.by)
    return replace(ended_job, exit_code=root.exit_code or None)


def _running(rows: Sequence[IrisRow]) -> int | None:
    """The number of running tasks; None if unknown."""
    counts = [
        sum(count for word, count in row.counts.items() if plain(word) == "running")
        for row in rows
        if row.counts
    ]
    return sum(counts) if counts else None


def _sum(numbers: Sequence[int | None]) -> int | None:
    present = [number for number in numbers if number is not None]
    return sum(present) if present else None
