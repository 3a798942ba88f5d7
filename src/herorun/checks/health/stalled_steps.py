"""The job is running and its steps do not advance.

Why: a hung collective or a starved input wastes every accelerator without a log line; only the age
of the last step shows it.
Fix: look at the job's log (`herorun logs RUN`) and its nodes; the DRI decides whether to stop and
relaunch it (`herorun relaunch RUN --stop-first`).
Source: marin-community/marin #7344: 512 GPUs hung for 16.5 minutes with every task RUNNING and a
silent log; #8861: a watchdog with an hour of grace came too late. An evaluation of two hours after
the last step is no hang.
"""

from datetime import datetime, timedelta

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.clock_skew import SKEW
from herorun.core.durations import format_span
from herorun.core.evidence import (
    Cadence,
    Checkpoints,
    FinalStep,
    History,
    Job,
    JobLog,
    Metrics,
    Nothing,
    Now,
    Unavailable,
)
from herorun.core.finding import Outcome, Verdict, failed, passed, unknown
from herorun.core.health.liveness import RowPatience, rows_since, sign_of_life
from herorun.core.health.preconditions import not_running
from herorun.core.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Limits(RowPatience):
    """How long rows may be missing: `idle`, or `pauses` times the longest pause so far if that is
    more, at most `max_idle`.

    Without times in the rows it is `cadences` cadences, before the first row `startup`, and after
    the final step `closing_time`.
    """


@check(
    Gate.HEALTH,
    Response.ESCALATE,
    topic=Topic.PROGRESS,
    inhibited_by=("failing-log", "stalled-by-infrastructure"),
)
def stalled_steps(
    job: Job,
    metrics: Metrics | Nothing,
    log: JobLog | Nothing | Unavailable,
    checkpoints: Checkpoints | Nothing | Unavailable,
    history: History,
    now: Now,
    cadence: Cadence,
    final: FinalStep | Nothing | Unavailable,
    limits: Limits,
) -> Verdict:
    """If the rows stop while something else advances, the tracker is the likely cause: see
    `silent-tracker`.
    """
    if verdict := not_running(job):
        return verdict
    since, wrote = rows_since(job, metrics, history, now.at)
    if since is None:
        return unknown(f"the start of {job.instance} is unknown", subject=job.instance)
    if isinstance(metrics, Nothing) and history.has_rows:
        message = f"rows of {job.instance} were read before, and the tracker has none now"
        return unknown(message, subject=job.instance)
    if wrote and isinstance(metrics, Metrics):
        most = limits.between_rows(metrics, final, cadence)
        last_step = f"made its last step ({metrics.logged_step(metrics.step)})"
        verdict = _judge_age(job, last_step, since, now.at, most)
    else:
        no_step = "has made no step since it started"
        verdict = _judge_age(job, no_step, since, now.at, limits.startup)
    sign = sign_of_life(metrics, log, checkpoints, since, now.at)
    if verdict.outcome is Outcome.FAIL and sign:
        return unknown(
            f"{verdict.message}, but {sign}: perhaps only the tracker has stopped",
            subject=job.instance,
        )
    return verdict


def _judge_age(job: Job, what: str, since: datetime, now: datetime, most: timedelta) -> Verdict:
    idle = now - since
    message = (
        f"{job.instance} {what} {format_span(max(idle, timedelta()))} ago, "
        f"{'more than' if idle > most else 'within'} the limit of {format_span(most)}"
    )
    if idle > most:
        return failed(message, subject=job.instance)
    skew = (
        [f"the newest row is {format_span(-idle)} in the future: the clocks differ"]
        if -idle > SKEW
        else []
    )
    return passed(message, *skew, subject=job.instance)
