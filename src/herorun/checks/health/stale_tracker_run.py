"""The job runs, but the tracker's run does not advance or counts as ended.

Why: the tracker shows an ended run or an old step, and new rows may be dropped: a tracker refuses
steps below its own counter.
Fix: look in the job's log (`herorun logs RUN`) for messages of the tracker's client; it may be
offline, rejected, or writing to another run.
Source: marin-community/marin, manage-hero-run: validate state, timestamp and step against the
recorded identity.
"""

from datetime import UTC, datetime, timedelta
from math import isclose
from typing import ClassVar

from herorun.core.check import Gate, Hold, Response, Topic, check
from herorun.core.clock_skew import SKEW
from herorun.core.contract import Contract
from herorun.core.durations import format_span
from herorun.core.evidence import (
    Cadence,
    Checkpoints,
    History,
    Job,
    JobState,
    Metrics,
    Nothing,
    Now,
    TrackerIdentity,
    TrackerState,
    Unavailable,
)
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown
from herorun.core.health.checkpoint_lag import job_start
from herorun.core.identity.drift import heartbeat_of
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat

OVER = (TrackerState.FINISHED, TrackerState.CRASHED, TrackerState.FAILED)


@dataclass(frozen=True)
class Limits:
    """A heartbeat may be missing for `silence`, and at least for `cadences` cadences. Before
    `startup` it is not judged. The tracker's state is not judged before the instance has reported.
    """

    RENAMED: ClassVar = {"silent": "silence"}

    silence: timedelta = timedelta(minutes=15)
    cadences: PositiveFloat = 3.0
    startup: timedelta = timedelta(minutes=45)


@check(Gate.HEALTH, Response.WARN, hold=Hold(ticks=3), topic=Topic.MONITOR)
def stale_tracker_run(
    job: Job,
    contract: Contract,
    identity: TrackerIdentity,
    checkpoints: Checkpoints,
    metrics: Metrics | Nothing | Unavailable,
    history: History,
    now: Now,
    cadence: Cadence,
    limits: Limits,
) -> list[Verdict]:
    """One verdict for each sign: the state, the heartbeat, the last step, and the summary's losses
    and their time.
    """
    start = job_start(job, history)
    if identity.state is TrackerState.UNREACHABLE:
        return [unknown(f"could not query the tracker: {identity.why}")]
    if job.state.in_doubt:
        return [unknown("the state of the job is unknown")]
    if job.state is not JobState.RUNNING:
        return [not_applicable(f"{job.instance} {job.state.predicate}")]
    if start is None:
        return [not_applicable(f"the start of {job.instance} is unknown")]
    if identity.state in (TrackerState.ABSENT, TrackerState.DELETED):
        return [not_applicable("the tracker has no such run")]
    if now.at - start <= limits.startup:
        has_reported = _has_reported(identity, metrics, history, start)
        if has_reported:  # the newest state also ends an alert about an earlier one
            running = passed(f"the tracker's run is {identity.state}", subject="state")
            return _judge_tracker_state(identity) or [running]
        return [not_applicable(f"{job.instance} has just begun")]
    most = max(limits.silence, limits.cadences * cadence.every)
    verdicts = [
        *_judge_tracker_state(identity),
        *_heartbeat(identity, now, most),
        *_judge_logged_step(contract, identity, checkpoints, now, most),
        *_summary(contract, identity, metrics, most),
    ]
    return verdicts or [passed(f"the tracker's run is {identity.state}")]


def _has_reported(
    identity: TrackerIdentity,
    metrics: Metrics | Nothing | Unavailable,
    history: History,
    start: datetime,
) -> bool:
    """Whether the tracker's state is that of this instance, and not one that an earlier instance
    left.
    """
    beat = heartbeat_of(identity)
    wrote = isinstance(metrics, Metrics) and history.wrote(metrics)
    return wrote or (beat is not None and beat > start + SKEW)


def _judge_tracker_state(identity: TrackerIdentity) -> list[Verdict]:
    if identity.state not in OVER:
        return []
    return [
        failed(f"the tracker calls the run {identity.state}, but the job runs", subject="state")
    ]


def _heartbeat(identity: TrackerIdentity, now: Now, most: timedelta) -> list[Verdict]:
    beat = heartbeat_of(identity)
    if beat is None or now.at - beat <= most:
        return []
    return [
        failed(
            f"the tracker's last heartbeat of the run was at {beat:%Y-%m-%d %H:%M} UTC; the limit "
            f"is {format_span(most)}",
            subject="heartbeat",
        )
    ]


def _judge_logged_step(
    contract: Contract,
    identity: TrackerIdentity,
    checkpoints: Checkpoints,
    now: Now,
    most: timedelta,
) -> list[Verdict]:
    """The step of a checkpoint that has been complete for a while must have been logged."""
    if identity.last_step is None:
        return []
    logged_steps = identity.last_step + 1 - contract.tracker.first_step
    later = [
        c
        for c in checkpoints.candidates
        if c.complete and c.modified and now.at - c.modified > most and c.step > logged_steps
    ]
    if not later:
        return []
    newest = max(c.step for c in later)
    return [
        failed(
            f"the tracker is at step {logged_steps}, but checkpoint {newest} is complete",
            subject="step",
        )
    ]


def _summary(
    contract: Contract,
    identity: TrackerIdentity,
    metrics: Metrics | Nothing | Unavailable,
    most: timedelta,
) -> list[Verdict]:
    """Compares the summary, which people read, with the rows: it must advance with them, and have
    the same values at one step.
    """
    if not isinstance(metrics, Metrics):
        return []
    timestamp, step = identity.summary.get("_timestamp"), identity.summary.get("_step")
    verdicts = []
    if (
        timestamp is not None
        and metrics.stamped_at - (at := datetime.fromtimestamp(timestamp, UTC)) > most
    ):
        message = (
            f"the tracker's summary has not changed since {at:%Y-%m-%d %H:%M} UTC, but its "
            "rows continue"
        )
        verdicts.append(failed(message, subject="summary"))
    if step is None or step != metrics.step - 1 + contract.tracker.first_step:
        return verdicts
    for name, value in identity.summary.items():
        row = (metrics.last or {}).get(name)
        if name.startswith("_") or row is None or isclose(value, row, rel_tol=1e-3):
            continue
        message = (
            f"at step {step:g} the tracker's summary says {name} {value:.6g}, but the row says "
            f"{row:.6g}"
        )
        verdicts.append(failed(message, subject=name))
    return verdicts
