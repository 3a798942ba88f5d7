"""The job has waited too long for its hardware.

Why: a wrong slice, an exhausted quota or a peer that does not answer never improves by waiting. A
job still waits if its scheduler calls it running, but its machines do nothing yet.
What waiting cannot fix, such as a missing image, is reported after 5 minutes. `stuck-pending`
escalates a hero run that waits for hours.
Fix: the DRI decides whether to wait or to stop the job (`herorun stop RUN`).
Source: marin-community/marin, manage-hero-run: pending for more than 30 minutes; reported again
after 2 hours, and daily.
"""

from datetime import timedelta
from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.durations import format_duration
from herorun.core.evidence import History, Job, JobLog, Metrics, Nothing, Now, Receipt, Unavailable
from herorun.core.finding import Verdict, failed, passed
from herorun.core.health.queue_reasons import Waiting
from herorun.core.health.queue_wait import QueueWait, read_wait
from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Limits:
    """The wait begins at the submission or the return to the queue. It is reported after
    `first_wait`, after `second_wait`, then once per `repeat_wait`. What waiting cannot fix, such as
    a missing image, is first reported after `unsatisfiable_wait`.
    """

    RENAMED: ClassVar = {
        "never": "unsatisfiable_wait",
        "unsatisfiable": "unsatisfiable_wait",
        "first": "first_wait",
        "again": "second_wait",
        "repeat": "repeat_wait",
    }

    unsatisfiable_wait: timedelta = timedelta(minutes=5)
    first_wait: timedelta = timedelta(minutes=30)
    second_wait: timedelta = timedelta(hours=2)
    repeat_wait: timedelta = timedelta(days=1)


@check(Gate.HEALTH, Response.WARN, topic=Topic.JOB)
def pending_too_long(
    job: Job,
    history: History,
    metrics: Metrics | Nothing | Unavailable,
    log: JobLog | Nothing | Unavailable,
    receipt: Receipt | Nothing | Unavailable,
    now: Now,
    limits: Limits,
) -> list[Verdict]:
    """One verdict for each limit that is passed, so that each is reported."""
    wait = read_wait(job, history, metrics, log, receipt, now)
    if not isinstance(wait, QueueWait):
        return [wait]
    limit = limits.unsatisfiable_wait if wait.why is Waiting.NEVER else limits.first_wait
    if wait.span <= limit:
        return [passed(wait.describe(limit), subject=job.instance)]
    subjects = _subjects(job.instance, wait.span, limits)
    return [failed(wait.complain(limit), subject=subject) for subject in subjects]


def _subjects(instance: str, waits: timedelta, limits: Limits) -> list[str]:
    later = [limits.second_wait] if waits > limits.second_wait else []
    later += [limits.repeat_wait * day for day in range(1, waits // limits.repeat_wait + 1)]
    return [instance, *(f"{instance} after {format_duration(limit)}" for limit in later)]
