"""How far a run's checkpoints lag behind its training, in save intervals. Pure: the checks choose
the limits.
"""

from datetime import datetime, timedelta
from itertools import pairwise

from herorun.core.contract import Contract
from herorun.core.durations import format_duration
from herorun.core.evidence import Candidate, Checkpoints, History, Job, Metrics
from herorun.core.finding import Verdict, count, failed, not_applicable, passed
from herorun.core.health.preconditions import not_running
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat
from herorun.core.lazy_statistics import median

GAPS = 5  # of the newest checkpoints, where the contract states no interval
MIN_GAPS = 2


@dataclass(frozen=True)
class Lag:
    """The largest lag in save intervals, and what it is of."""

    intervals: float
    message: str


@dataclass(frozen=True)
class CheckpointPatience:
    """Save intervals without a complete checkpoint; a save may take `grace`, and a start
    `startup`.
    """

    intervals: PositiveFloat
    grace: timedelta = timedelta(minutes=10)
    startup: timedelta = timedelta(minutes=45)


def overdue(
    job: Job,
    contract: Contract,
    checkpoints: Checkpoints,
    metrics: Metrics,
    history: History,
    most: CheckpointPatience,
) -> Verdict:
    """Whether the newest complete checkpoint lags more than `most` behind."""
    if verdict := not_running(job):
        return verdict
    if not history.wrote(metrics):
        return not_applicable(f"{job.instance} has no row of its own yet", subject=job.instance)
    lag = lags(contract, checkpoints, metrics, job_start(job, history), most.grace, most.startup)
    if lag is None:
        return not_applicable("no save interval is stated or seen yet", subject=job.instance)
    if lag.intervals > most.intervals:
        return failed(
            f"{lag.message}, and {lag.intervals:.1f} intervals have passed (limit "
            f"{most.intervals:g}){_explain_rejection(checkpoints)}",
            subject=job.instance,
        )
    return passed(lag.message, subject=job.instance)


def _explain_rejection(checkpoints: Checkpoints) -> str:
    """Why the newest one does not count; "" if it does."""
    newest = max(checkpoints.candidates, key=lambda each: each.step, default=None)
    if newest is None or not newest.problem:
        return ""
    return f". {newest.path} does not count: {newest.problem}"


def lags(
    contract: Contract,
    checkpoints: Checkpoints,
    metrics: Metrics,
    started_at: datetime | None,
    grace: timedelta,
    startup: timedelta,
) -> Lag | None:
    """None where no interval is stated or seen, or the time of the newest save is unknown.

    A save under way that changed within `grace` counts as done. The job may take `startup` to its
    first step.
    """
    by_step = _by_step(contract, checkpoints, metrics, grace)
    by_time = _by_time(contract, checkpoints, metrics, started_at, grace, startup)
    return max(
        (lag for lag in (by_step, by_time) if lag), key=lambda lag: lag.intervals, default=None
    )


def save_interval(contract: Contract, checkpoints: Checkpoints) -> tuple[float, str] | None:
    """Steps between two checkpoints and where that is from: stated, or the median of what is
    seen.
    """
    policy = contract.checkpoints
    if policy.permanent_every:
        return float(policy.permanent_every), "permanent_every"
    steps = sorted({c.step for c in checkpoints.candidates if _counts_as_saved(c)})[-GAPS - 1 :]
    gaps = [later - earlier for earlier, later in pairwise(steps)]
    if policy.temporary_every or len(gaps) < MIN_GAPS:
        return None
    return float(median(gaps)), f"the median of the last {count(len(gaps), 'gap')}"


def job_start(job: Job, history: History) -> datetime | None:
    """When the current instance began to run, if that is known."""
    return job.started or (history.current.started if history.current else None)


def _by_step(
    contract: Contract, checkpoints: Checkpoints, metrics: Metrics, grace: timedelta
) -> Lag | None:
    interval = save_interval(contract, checkpoints)
    if interval is None:
        return None
    permanent_only = contract.checkpoints.permanent_every is not None
    candidates = [c for c in checkpoints.candidates if not (permanent_only and c.temporary)]
    steps = [
        c.step
        for c in candidates
        if _counts_as_saved(c) or _under_way(c, metrics.stamped_at, grace)
    ]
    newest = max([*steps, metrics.first_step - 1, 0])
    every, source = interval
    newest_text = _newest_text(max(steps) if steps else None, permanent_only)
    if not steps and newest:
        newest_text += f" since step {newest}"
    message = (
        f"at step {metrics.step}, {newest_text}; one is due every {count(every, 'step')} ({source})"
    )
    return Lag((metrics.step - newest) / every, message)


def _by_time(
    contract: Contract,
    checkpoints: Checkpoints,
    metrics: Metrics,
    started_at: datetime | None,
    grace: timedelta,
    startup: timedelta,
) -> Lag | None:
    every = contract.checkpoints.temporary_every
    newest = checkpoints.newest
    if every is None or started_at is None or (newest and newest.modified is None):
        return None
    under_way = [
        c.modified for c in checkpoints.candidates if _under_way(c, metrics.stamped_at, grace)
    ]
    times = [
        started_at + startup,
        *(t for t in under_way if t),
        *([newest.modified] if newest and newest.modified else []),
    ]
    since = max(times)
    delay = metrics.stamped_at - since - grace
    newest_text = _newest_text(newest.step if newest else None)
    message = (
        f"at {metrics.stamped_at:%H:%M} UTC, {newest_text}; one is due every "
        f"{format_duration(every)}"
    )
    return Lag(max(delay, timedelta()) / every, message)


def _newest_text(step: int | None, permanent_only: bool = False) -> str:
    kind = "complete permanent checkpoint" if permanent_only else "complete checkpoint"
    return f"there is no {kind}" if step is None else f"the newest {kind} is of step {step}"


def _counts_as_saved(candidate: Candidate) -> bool:
    """Complete, or an older one that was only listed."""
    return candidate.complete or not candidate.problem


def _under_way(candidate: Candidate, at: datetime, grace: timedelta) -> bool:
    changed_at = candidate.modified if candidate.incomplete and not candidate.alike else None
    return changed_at is not None and at - changed_at <= grace
