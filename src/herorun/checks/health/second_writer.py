"""Another job or process writes to this run: the scheduler lists it, or rows or a heartbeat came
after the job's end.

Why: two jobs under one identity mix their rows and overwrite each other's checkpoints; a job on a
lost node continues to write after its scheduler has given it up.
Fix: find the other writer and end it before anything is launched; then find out which rows and
checkpoints belong to which.
Source: marin-community/marin: a second submission would compete for the same tree; a lost node's
job continues to write.
"""

from datetime import datetime, timedelta
from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.durations import format_span
from herorun.core.evidence import (
    Cadence,
    Job,
    LiveJobs,
    Metrics,
    Nothing,
    Now,
    TrackerIdentity,
    Unavailable,
)
from herorun.core.finding import Verdict, failed, passed, unknown
from herorun.core.identity.drift import heartbeat_of, writes_after
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat
from herorun.core.notify.escalation import EscalationReason


@dataclass(frozen=True)
class Limits:
    """How long after the job's end a write may still be its own: `grace`, and at least `cadences`
    cadences.
    """

    RENAMED: ClassVar = {"after": "grace"}

    grace: timedelta = timedelta(minutes=10)
    cadences: PositiveFloat = 2.0


@check(
    Gate.HEALTH,
    Response.ESCALATE,
    topic=Topic.JOB,
    vetoes_relaunch=True,
    asks=EscalationReason.LINEAGE,
)
def second_writer(
    job: Job,
    live: LiveJobs,
    metrics: Metrics | Nothing | Unavailable,
    identity: TrackerIdentity | Nothing | Unavailable,
    now: Now,
    cadence: Cadence,
    limits: Limits,
) -> list[Verdict]:
    """One verdict for each sign: another live instance, another part of the job itself, rows after
    the end, a heartbeat after the end.
    """
    others = [other for other in live.jobs if other.instance != job.instance]
    verdicts = [
        failed(
            f"{other.instance} {other.state.predicate} together with {job.instance}",
            subject=other.instance,
        )
        for other in others
        if other.state.live
    ]
    verdicts += [failed(message, subject=message) for message in job.other_writers]
    grace = max(limits.grace, limits.cadences * cadence.every)
    rows = metrics.stamped_at if isinstance(metrics, Metrics) else None
    beat = heartbeat_of(identity) if isinstance(identity, TrackerIdentity) else None
    for what, last in (("rows", rows), ("the tracker's heartbeat", beat)):
        if writes_after(last, job.ended, now.at, grace):
            verdicts.append(_late_writer(job, what, last, grace))
    doubtful = [
        unknown(f"it is unknown whether {other.instance} runs", subject=other.instance)
        for other in others
        if other.state.in_doubt
    ]
    for what, source in (("rows", metrics), ("the tracker's heartbeat", identity)):
        if job.ended and isinstance(source, Unavailable):
            message = f"could not read whether {what} continued after the end: {source.why}"
            doubtful.append(unknown(message, subject=what))
    return [*verdicts, *doubtful] or [passed(f"no other writer than {job.instance} was found")]


def _late_writer(job: Job, what: str, last: datetime | None, limit: timedelta) -> Verdict:
    return failed(
        f"{what} continued until {last:%H:%M} UTC, but {job.instance} ended at "
        f"{job.ended:%H:%M} UTC; the limit is {format_span(limit)} after the end",
        subject=what,
    )
