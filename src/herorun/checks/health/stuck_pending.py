"""A hero run has waited for its hardware for hours, or for something that never comes.

Why: a hero run that waits does not train, and its reserved hardware may be idle. `pending-too-long`
warns earlier; after 6 hours, or 30 minutes for what waiting cannot fix, a person must decide.
Fix: the DRI decides whether to wait (`herorun ack RUN` ends the reminders) or to stop the job
(`herorun stop RUN`).
"""

from datetime import timedelta
from typing import ClassVar

from herorun.checks.health.pending_too_long import Limits as Warned
from herorun.core.check import Gate, Response, Topic, check
from herorun.core.contract import Contract, parse_duration
from herorun.core.contract.values import present_keys
from herorun.core.evidence import History, Job, JobLog, Metrics, Nothing, Now, Receipt, Unavailable
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.health.queue_reasons import Waiting
from herorun.core.health.queue_wait import QueueWait, read_wait
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveInt


@dataclass(frozen=True)
class Limits:
    """The check fails after `first_wait`, but not before `first_wait_ratio` times the `first_wait`
    that the contract sets for `pending-too-long`. If waiting cannot fix the reason, such as a
    missing image, it fails after `unsatisfiable_wait`.
    """

    RENAMED: ClassVar = {
        "unsatisfiable": "unsatisfiable_wait",
        "first": "first_wait",
        "times": "first_wait_ratio",
    }

    unsatisfiable_wait: timedelta = timedelta(minutes=30)
    first_wait: timedelta = timedelta(hours=6)
    first_wait_ratio: PositiveInt = 3


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.JOB)
def stuck_pending(
    contract: Contract,
    job: Job,
    history: History,
    metrics: Metrics | Nothing | Unavailable,
    log: JobLog | Nothing | Unavailable,
    receipt: Receipt | Nothing | Unavailable,
    now: Now,
    limits: Limits,
) -> Verdict:
    if not contract.is_hero:
        return not_applicable("an ordinary run: pending-too-long warns if it waits")
    wait = read_wait(job, history, metrics, log, receipt, now)
    if not isinstance(wait, QueueWait):
        return wait
    limit = limits.unsatisfiable_wait if wait.why is Waiting.NEVER else _limit(contract, limits)
    if wait.span <= limit:
        return passed(wait.describe(limit), subject=job.instance)
    return failed(wait.complain(limit), subject=job.instance)


def _limit(contract: Contract, limits: Limits) -> timedelta:
    thresholds = contract.babysit.thresholds.get("pending-too-long", {})
    warned_after = parse_duration(present_keys(thresholds, Warned.RENAMED).get("first_wait"))
    if not isinstance(warned_after, timedelta):
        return limits.first_wait
    return max(limits.first_wait, limits.first_wait_ratio * warned_after)
