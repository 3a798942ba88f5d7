"""How long rows may be missing, and other signs that a job trains."""

from datetime import datetime, timedelta
from typing import ClassVar

from herorun.core.clock_skew import SKEW
from herorun.core.evidence import (
    Cadence,
    Checkpoints,
    FinalStep,
    History,
    Job,
    JobLog,
    Metrics,
    Nothing,
    Unavailable,
)
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat

# Linux dates a file by the clock's last interrupt: up to 10 ms before the time that a program reads
FILE_CLOCK = timedelta(milliseconds=20)
FRESH = timedelta(minutes=5)  # a log that changed so lately is still written


@dataclass(frozen=True)
class RowPatience:
    """Rows may stay away for `idle`, but at least so many `pauses` as have come before, and never
    beyond `max_idle`.

    Rows without times may stay away for so many `cadences`. The first row may take `startup`;
    behind the final step the last evaluation and the last save may take `closing_time`.
    """

    RENAMED: ClassVar = {"longest": "max_idle", "closing": "closing_time"}

    idle: timedelta = timedelta(minutes=15)
    pauses: PositiveFloat = 3.0
    max_idle: timedelta = timedelta(hours=2)
    cadences: PositiveFloat = 3.0
    startup: timedelta = timedelta(minutes=45)
    closing_time: timedelta = timedelta(hours=3)

    def between_rows(
        self, metrics: Metrics, final: FinalStep | Nothing | Unavailable, cadence: Cadence
    ) -> timedelta:
        if isinstance(final, FinalStep) and final.value is not None and metrics.step >= final.value:
            return self.closing_time
        if metrics.pause is None:
            return max(self.idle, self.cadences * cadence.every)
        return max(self.idle, min(timedelta(seconds=self.pauses * metrics.pause), self.max_idle))


def sign_of_life(
    metrics: Metrics | Nothing,
    log: JobLog | Nothing | Unavailable,
    checkpoints: Checkpoints | Nothing | Unavailable,
    since: datetime,
    now: datetime,
    fresh: timedelta = FRESH,
) -> str:
    """A sign that the job runs, as a message; empty if there is none. `since` is when the rows
    stopped, or the job began.
    """
    newest = checkpoints.newest if isinstance(checkpoints, Checkpoints) else None
    last_step = metrics.step if isinstance(metrics, Metrics) else 0
    if newest and newest.modified and newest.modified > since + SKEW and newest.step > last_step:
        return f"checkpoint {newest.step} was saved at {newest.modified:%H:%M} UTC"
    changed_at = log.changed_at if isinstance(log, JobLog) else None
    # a log that is dated in the future does not say when it changed
    if changed_at and changed_at > since + SKEW and abs(now - changed_at) <= fresh:
        return f"its log changed at {changed_at:%H:%M} UTC"
    return ""


def steps_seen(
    job: Job,
    log: JobLog | Nothing | Unavailable | None,
    checkpoints: Checkpoints | Nothing | Unavailable | None,
    history: History,
    above: int | None,
) -> str:
    """What besides the rows shows that this very instance has trained beyond step `above`; empty
    where nothing does. `above` is None where the attempt that runs has no row yet.
    """
    # rows, and none since the job's present start: its back end may have started it again, and what
    # an earlier attempt saved or printed is no sign of this one
    is_restarted = above is None and history.has_rows and job.started is not None
    start = job.started if is_restarted else _earliest(job, history)
    above = -1 if above is None else above
    candidates = checkpoints.candidates if isinstance(checkpoints, Checkpoints) else ()
    own = [
        c
        for c in candidates
        if c.modified and start and c.modified >= start and c.path not in history.foreign
    ]
    newest = max(
        (c for c in own if not c.alike and c.step > above), key=lambda c: c.step, default=None
    )
    if newest and newest.modified:
        return f"checkpoint {newest.step} was saved at {newest.modified:%H:%M} UTC"
    resume_step = max(
        (c.step for c in candidates if not c.alike), default=0
    )  # a trainer that resumes prints its step too
    if not isinstance(log, JobLog) or log.step is None:
        return ""
    # a log that several jobs write to ends with the step of the one before
    own_step = log.stepped_at >= start if start and log.stepped_at else not is_restarted
    if own_step and log.step > max(above, resume_step):
        return f"its log reports step {log.step}"
    return ""


def _earliest(job: Job, history: History) -> datetime | None:
    """The time before which nothing is this instance's own."""
    current = history.current
    intended_at = current.intended or current.started if current else None
    times = [
        at for at in (intended_at, job.started if job.started and not intended_at else None) if at
    ]
    return min(times, default=None)


def rows_since(
    job: Job, metrics: Metrics | Nothing, history: History, now: datetime
) -> tuple[datetime | None, bool]:
    """Since when there is no new row, and whether the job has written any; without any, the time
    is the job's start.
    """
    began_at = _began(job, history, now)
    if isinstance(metrics, Metrics) and (
        began_at is None or metrics.advanced_at >= began_at - FILE_CLOCK
    ):
        return metrics.advanced_at, True
    return began_at, False


def _began(job: Job, history: History, now: datetime) -> datetime | None:
    """By the scheduler, unless its clock is off: in the future, or so early that an older
    instance's rows were this one's.
    """
    if job.began is not None:
        return job.began
    current = history.current
    if current is None or job.started is None or job.instance != current.name:
        return job.started or (current.started if current else None)
    if job.started > now:
        return current.started
    earliest = current.intended if len(history.instances) > 1 else None
    return max(job.started, earliest or job.started)
