"""How the instances of a run ended, and what is recorded about it."""

from dataclasses import replace
from datetime import datetime

from herorun.core.evidence import (
    REFUSED_EXIT_CODE,
    Checkpoints,
    End,
    Evidence,
    History,
    Job,
    JobState,
    Metrics,
    Nothing,
    Triage,
    Unavailable,
)

# Ends that are no fault of the run: success, a stop by a person, preemption, the time limit.
INNOCENT = frozenset(
    {JobState.SUCCEEDED, JobState.CANCELLED, JobState.PREEMPTED, JobState.TIMED_OUT, JobState.GONE}
)


def end_of(
    job: Job,
    metrics: Metrics | Nothing | Unavailable,
    checkpoints: Checkpoints | Nothing | Unavailable,
    history: History,
    at: datetime,
    fingerprint: str = "",
) -> End:
    """The job's end with the present evidence; an earlier instance's rows do not count."""
    wrote = isinstance(metrics, Metrics) and history.wrote(metrics)
    newest = checkpoints.newest if isinstance(checkpoints, Checkpoints) else None
    return End(
        instance=job.instance,
        state=job.state,
        at=at,
        exit_code=job.exit_code,
        signal=job.signal,
        step=metrics.step if wrote and isinstance(metrics, Metrics) else None,
        checkpoint=None if isinstance(checkpoints, Unavailable) else newest.step if newest else 0,
        fingerprint=fingerprint,
        failed_on=job.failed_on,
        ended=job.ended,
    )


def end_to_record(evidence: Evidence, history: History, at: datetime) -> End | None:
    """The current job's end, if it is not recorded yet or is known in more detail now."""
    job, not_read = evidence.get(Job), Unavailable("this evidence was not read")
    if not isinstance(job, Job) or not job.state.is_final:
        return None
    metrics, checkpoints = evidence.get(Metrics, not_read), evidence.get(Checkpoints, not_read)
    triage = evidence.get(Triage)
    fingerprint = triage.fingerprint if isinstance(triage, Triage) else ""
    new_end = end_of(job, metrics, checkpoints, history, at, fingerprint)
    before = next((end for end in history.ends if end.instance == job.instance), None)
    if before is None or not _is_more_specific(new_end, before):
        return new_end if before is None else None
    is_forgotten = before.forgotten and new_end.state is before.state
    return replace(new_end, forgotten=is_forgotten)


def _is_more_specific(end: End, before: End) -> bool:
    """Whether the end has more details, or another state: a scheduler may first report `gone`, and
    later how it ended.
    """
    return (
        end.state is not before.state
        or any(
            getattr(before, name) is None and getattr(end, name) is not None
            for name in ("exit_code", "signal", "step", "checkpoint", "ended")
        )
        or bool(end.fingerprint and not before.fingerprint)
    )


def saved_to_record(evidence: Evidence, history: History) -> int | None:
    """The number of checkpoints, if it is higher than ever before."""
    checkpoints = evidence.get(Checkpoints)
    count = checkpoints.usable_count if isinstance(checkpoints, Checkpoints) else 0
    return count if count > history.most_saved else None


def temporary_to_record(evidence: Evidence, history: History) -> int | None:
    """The newest step in the temporary root, if it is the highest of the current instance so
    far.
    """
    checkpoints = evidence.get(Checkpoints)
    steps = (
        [c.step for c in checkpoints.candidates if c.temporary]
        if isinstance(checkpoints, Checkpoints)
        else []
    )
    newest = max(steps, default=None)
    temporary_saved = history.temporary_saved
    return (
        newest
        if newest is not None and (temporary_saved is None or newest > temporary_saved)
        else None
    )


def is_failure(end: End) -> bool:
    """Whether an end counts towards a repeated failure. A refusal at check-in does not: it has its
    own check.
    """
    return end.state not in INNOCENT and end.exit_code != REFUSED_EXIT_CODE and not end.state.live
