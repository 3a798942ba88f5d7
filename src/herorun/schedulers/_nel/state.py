"""The state of an instance, from what nel reports and the evidence for it. Pure.

nel also reports a job as failed if its own query failed, and one that it has lost as "not found" or
"error". So an end counts only with evidence: the exit code that a local job wrote, or Slurm's own
answer. `_nel.confirmation` settles the rest by a second query.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from herorun.core.evidence import Job, JobState
from herorun.core.lazy_dataclass import dataclass
from herorun.schedulers._nel.parse import NelTask, Stages, nel_state_of
from herorun.schedulers._submission_record import SubmissionRecord


class NoSlurmJob(str):
    """Slurm's answer that there is no such job. Any other text means that its state is unknown."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True)
class JudgedTask:
    """One task of an instance, judged."""

    entry: NelTask
    state: JobState
    raw: str
    reason: str = ""
    exit_code: int | None = None
    started: datetime | None = None
    ended: datetime | None = None


def local_part(entry: NelTask, word: str, task_stages: Stages) -> JudgedTask:
    state = nel_state_of(word)
    part = JudgedTask(
        entry=entry,
        state=state,
        raw=word,
        reason="",
        exit_code=task_stages.exit_code,
        started=task_stages.started,
        ended=task_stages.ended,
    )
    if state is JobState.UNKNOWN:
        return replace(part, reason=f"nel says {word!r} of {entry.id}", ended=None, exit_code=None)
    if state is JobState.FAILED and not task_stages.exit_code:
        why = f"nel reports {entry.id} as failed, without an exit code: checked again later"
        return replace(part, state=JobState.UNKNOWN, reason=why, exit_code=None)
    if state.live:
        return replace(part, exit_code=None, ended=None)
    return part


def slurm_part(entry: NelTask, word: str, slurm: Job | str) -> JudgedTask:
    """`slurm` is Slurm's own job, or why it is unknown. The state from nel counts once Slurm's job
    has ended.
    """
    state = nel_state_of(word)
    if isinstance(slurm, str):
        waits = state is JobState.PENDING  # nel's own waiting, before Slurm has a job
        return JudgedTask(
            entry=entry,
            state=state if waits else JobState.UNKNOWN,
            raw=word,
            reason=f"nel says {word!r} of {entry.id}; {slurm}",
        )
    raw = f"{word}; Slurm {slurm.raw}"
    part = JudgedTask(
        entry=entry,
        state=slurm.state,
        raw=raw,
        reason=slurm.reason,
        exit_code=slurm.exit_code,
        started=slurm.started,
        ended=slurm.ended,
    )
    resumes = slurm.state in (JobState.PREEMPTED, JobState.TIMED_OUT, JobState.NODE_FAILED)
    if state is JobState.PENDING and resumes:
        why = f"Slurm's job {slurm.id} is {slurm.raw}, and nel starts it again"
        return replace(part, state=JobState.PENDING, reason=why, ended=None, exit_code=None)
    return part


def judge_nel(
    instance: str, invocation: str, parts: Sequence[JudgedTask], record: SubmissionRecord
) -> Job:
    """One job for all its tasks: it is live while one is, and has succeeded when all have."""
    decisive = _deciding(parts)
    state = decisive.state
    live = state.live
    ends = [part.ended for part in parts if part.ended]
    starts = [part.started for part in parts if part.started]
    odd = [part for part in parts if part.state is not state]
    reasons = [decisive.reason, *(f"{part.entry.id} is {part.state}" for part in odd)]
    return Job(
        id=invocation,
        instance=instance,
        state=state,
        raw=decisive.raw,
        reason="; ".join(part for part in reasons if part),
        exit_code=decisive.exit_code
        if state.is_final and state is not JobState.CANCELLED
        else None,
        stopped_by=record.by if state is JobState.CANCELLED else None,
        started=min(starts, default=None),
        ended=max(ends) if state.is_final and len(ends) == len(parts) else None,
        submitted=min(part.entry.at for part in parts),
        tasks=len(parts),
        running_tasks=sum(part.state is JobState.RUNNING for part in parts) if live else None,
    )


def _deciding(parts: Sequence[JudgedTask]) -> JudgedTask:
    """In this order: one that runs, that waits, whose state is unknown, that did not succeed."""

    def rank(part: JudgedTask) -> int:
        order = (
            JobState.RUNNING,
            JobState.BUILDING,
            JobState.PENDING,
            JobState.UNKNOWN,
            JobState.GONE,
        )
        return (
            order.index(part.state)
            if part.state in order
            else 6
            if part.state is JobState.SUCCEEDED
            else 5
        )

    return min(parts, key=rank)
