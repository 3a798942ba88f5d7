"""What a launch intends with the tracker's run: start it, continue it, or fork it. Always derived,
never stated.
"""

from collections.abc import Mapping
from typing import Any

from herorun.core.clock_skew import SKEW
from herorun.core.evidence import (
    Job,
    Nothing,
    PriorLaunch,
    TrackerIdentity,
    TrackerState,
    Unavailable,
)
from herorun.core.identity.resume_matrix import Intent
from herorun.core.plan import Plan, TrackerRun
from herorun.core.untrusted_json import parse_utc


def option(run: TrackerRun, name: str) -> str:
    """A further key of `[tracker]` as text; empty where it is not set."""
    return str(run.options.get(name) or "")


def prior_identity(prior: PriorLaunch | Nothing) -> Mapping[str, Any]:
    """The identity that the newest recorded instance was admitted with; empty before the first."""
    tracker = prior.plan.get("tracker") if isinstance(prior, PriorLaunch) else None
    return tracker if isinstance(tracker, Mapping) else {}


def identity_of(tracker: Mapping[str, Any]) -> str:
    """`entity/project/id` of a plan's tracker, those parts that are stated.

    >>> identity_of({"entity": "lab", "project": None, "id": "tiny"})
    'lab/tiny'
    """
    return "/".join(str(tracker[name]) for name in ("entity", "project", "id") if tracker.get(name))


def is_same(run: TrackerRun, prior: PriorLaunch | Nothing) -> bool:
    """Whether the newest recorded instance was to report under this very entity, project and id."""
    identity = prior_identity(prior)
    contract_identity = {"id": run.id, "entity": run.entity, "project": run.project}
    return bool(identity) and all(
        identity.get(name) == value for name, value in contract_identity.items()
    )


def intent_of(
    run: TrackerRun, prior: PriorLaunch | Nothing, state: TrackerState, going_on: bool
) -> Intent:
    """An instance that ended before it logged anything has not reported: where W&B knows nothing
    and the launch does not continue from a checkpoint of this run, it is as good as the first.
    """
    has_reported = is_same(run, prior) and (going_on or state is not TrackerState.ABSENT)
    if has_reported:
        return Intent.RESUME
    return Intent.FORK if option(run, "fork_from") else Intent.NEW


def goes_on(plan: Plan) -> bool:
    """Whether the launch continues from a checkpoint in the run's own roots."""
    start = plan.start.value
    return start is not None and any(start.path.startswith(f"{root}/") for root in plan.roots)


def tracker_state_of(identity: TrackerIdentity, job: Job | Nothing | Unavailable) -> TrackerState:
    """W&B notices minutes late that a job is gone: a heart that has not beaten since our own job
    ended is that job's.
    """
    running = identity.state is TrackerState.RUNNING
    if not running or not isinstance(job, Job) or not job.state.is_final or job.ended is None:
        return identity.state
    beat = parse_utc(identity.heartbeat)
    return TrackerState.CRASHED if beat and beat <= job.ended + SKEW else identity.state
