"""The run makes no progress, and its log or its scheduler reports lost nodes, lost workers or
missing resources.

Why: such a job looks alive to its scheduler and never recovers by itself.
Fix: the DRI decides: wait for the capacity, or stop the job and start it again (`herorun relaunch
RUN --stop-first`). herorun changes nothing on a cluster without approval.
Source: marin-community/marin, job-monitoring loop: no progress for several intervals with one of
these is `degraded`, and reported at once.
"""

from datetime import timedelta
from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.durations import format_span
from herorun.core.evidence import Cadence, History, Job, JobLog, Metrics, Nothing, Now
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown
from herorun.core.health.liveness import rows_since
from herorun.core.health.preconditions import not_running
from herorun.core.health.stall_patterns import signal_in
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat
from herorun.core.notify.escalation import EscalationReason


@dataclass(frozen=True)
class Limits:
    """How long the run may go without a step: `cadences` cadences, and at least `min_idle`, which
    is twice the 570 seconds between two ticks of a job without a contract.
    """

    RENAMED: ClassVar = {"least": "min_idle"}

    cadences: PositiveFloat = 2.0
    min_idle: timedelta = timedelta(seconds=1140)


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.PROGRESS, asks=EscalationReason.CLUSTER)
def stalled_by_infrastructure(
    job: Job,
    metrics: Metrics | Nothing,
    log: JobLog | Nothing,
    history: History,
    now: Now,
    cadence: Cadence,
    limits: Limits,
) -> Verdict:
    if verdict := not_running(job):
        return verdict
    lines = [
        line
        for line in (job.reason, *(log.wedges if isinstance(log, JobLog) else ()))
        if signal_in(line)
    ]
    if not lines and isinstance(log, Nothing):
        return not_applicable(log.why or "no log was read", subject=job.instance)
    if not lines:
        return passed(
            f"neither the scheduler's reason nor the log of {job.instance} shows such a stall",
            subject=job.instance,
        )
    since, _ = rows_since(job, metrics, history, now.at)
    if since is None:
        message = f"the start of {job.instance} is unknown; {signal_in(lines[-1])}: {lines[-1]}"
        return unknown(message, subject=job.instance)
    most = max(limits.min_idle, limits.cadences * cadence.every)
    idle = now.at - since
    if idle <= most:
        return passed(
            f"{job.instance} made a step within {format_span(most)}",
            lines[-1],
            subject=job.instance,
        )
    message = (
        f"{job.instance} made no step for {format_span(idle)} (the limit is "
        f"{format_span(most)}); {signal_in(lines[-1])}: {lines[-1]}"
    )
    return failed(message, subject=job.instance)
