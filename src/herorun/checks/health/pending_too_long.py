"""The job has been waiting for its hardware for too long.

Why: a wedge in the queue looks like patience; a wrong slice, a spent quota or a peer that does not answer never gets
better by waiting.
Fix: by the reason that it names; the DRI decides on other capacity. Nothing is done to a cluster without approval.
Source: marin-community/marin, manage-hero-run: pending for more than 30 minutes; told again after 2 hours, and daily.
"""

from dataclasses import dataclass
from datetime import timedelta

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.contract import say_duration
from herorun.core.evidence import History, Job, JobState, Now
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown
from herorun.core.health.queue_reasons import ADVICE, Waiting, why_waiting


@dataclass(frozen=True)
class Limits:
    """`first` after the submission or the return to the queue, `again` later, then every `repeat`."""

    first: timedelta = timedelta(minutes=30)
    again: timedelta = timedelta(hours=2)
    repeat: timedelta = timedelta(days=1)


@check(Gate.HEALTH, Response.WARN, topic=Topic.JOB)
def pending_too_long(job: Job, history: History, now: Now, limits: Limits) -> list[Verdict]:
    """One answer for each limit that is passed, so that each is told."""
    if job.state.in_doubt:
        return [unknown(f"the scheduler cannot say whether {job.instance} waits", subject=job.instance)]
    if job.state is not JobState.PENDING:
        return [not_applicable(f"{job.instance} is {job.state}", subject=job.instance)]
    why = why_waiting(job.reason)
    if why is Waiting.EXPECTED:
        return [
            not_applicable(f"{job.instance} waits as it was asked to: {job.reason}", subject=job.instance)
        ]
    since = job.submitted or (history.current.started if history.current else None)
    if since is None:
        return [unknown(f"nobody knows since when {job.instance} waits", subject=job.instance)]
    waits = now.at - since
    if waits <= limits.first:
        return [passed(f"{job.instance} waits since {since:%H:%M} UTC", subject=job.instance)]
    said = f"{job.instance} has been pending for {waits // timedelta(minutes=1)} min: {_words(why, job)}"
    return [failed(said, subject=subject) for subject in _subjects(job.instance, waits, limits)]


def _words(why: Waiting, job: Job) -> str:
    told = f" ({job.reason})" if job.reason and why is not Waiting.UNSTATED else ""
    return f"{why}{told}; {ADVICE[why]}"


def _subjects(instance: str, waits: timedelta, limits: Limits) -> list[str]:
    later = [limits.again] if waits > limits.again else []
    later += [limits.repeat * day for day in range(1, waits // limits.repeat + 1)]
    return [instance, *(f"{instance} after {say_duration(limit)}" for limit in later)]
