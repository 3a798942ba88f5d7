"""Reduces the job's state, the proof that it trains, and the alerts to one word. The tables are the
rule.

Alerts about the monitor itself do not count, because a stale monitor does not make a run unhealthy.
A scheduler's state alone never makes a run healthy.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from herorun.core.babysit.alert import Alert
from herorun.core.check import Check, Severity, Topic
from herorun.core.evidence import Job, JobState, Nothing, Unavailable
from herorun.core.health.training_proof import Training, TrainingProof


class RunHealth(StrEnum):
    STARTING = "starting"  # nothing shows yet that it trains, and it may still be on its way there
    # evidence of the present instance shows that it trains, as fresh as its pace predicts
    HEALTHY = "healthy"
    DEGRADED = "degraded"
    DOWN = "down"
    FINISHED = "finished"
    UNKNOWN = "unknown"


# What the job's state alone says. A running job is as healthy as its evidence proves and its alerts
# let it be.
BY_STATE: Mapping[JobState, RunHealth] = {
    JobState.PENDING: RunHealth.STARTING,
    JobState.BUILDING: RunHealth.STARTING,
    JobState.RUNNING: RunHealth.HEALTHY,
    JobState.SUCCEEDED: RunHealth.FINISHED,
    JobState.FAILED: RunHealth.DOWN,
    JobState.CANCELLED: RunHealth.DOWN,
    JobState.PREEMPTED: RunHealth.DOWN,
    JobState.TIMED_OUT: RunHealth.DOWN,
    JobState.OUT_OF_MEMORY: RunHealth.DOWN,
    JobState.NODE_FAILED: RunHealth.DOWN,
    JobState.UNSCHEDULABLE: RunHealth.DOWN,
    JobState.GONE: RunHealth.UNKNOWN,
    JobState.UNKNOWN: RunHealth.UNKNOWN,
}

# What its evidence makes of a running job.
BY_PROOF: Mapping[TrainingProof, RunHealth] = {
    TrainingProof.COMPLETE: RunHealth.HEALTHY,
    TrainingProof.AWAITED: RunHealth.STARTING,
    TrainingProof.LACKING: RunHealth.UNKNOWN,
}

# The health of a live run while an alert of a topic fires; an INFO alert changes nothing.
BY_TOPIC: Mapping[Topic, RunHealth] = {
    Topic.JOB: RunHealth.DEGRADED,
    Topic.PROGRESS: RunHealth.DEGRADED,
    Topic.CHECKPOINTS: RunHealth.DEGRADED,
    Topic.METRIC: RunHealth.DEGRADED,
    Topic.LINEAGE: RunHealth.DEGRADED,
    Topic.NUMERIC: RunHealth.DEGRADED,
    Topic.MONITOR: RunHealth.HEALTHY,
}

# What single alerts make of a live run, before their topic is asked.
BY_CHECK: Mapping[str, RunHealth] = {
    # The seed's row: no progress over several cadences, and owner death, a dead node or unsatisfied
    # resources.
    "stalled-by-infrastructure": RunHealth.DEGRADED,
    "silent-tracker": RunHealth.UNKNOWN,
}

# What single alerts make of a run whose job ended with success; others no longer count.
AT_THE_END: Mapping[str, RunHealth] = {
    "ended-short": RunHealth.DOWN,
    "stopped-short": RunHealth.DOWN,
    "missing-artefacts": RunHealth.DEGRADED,
}

_WORST = (
    RunHealth.DOWN,
    RunHealth.DEGRADED,
    RunHealth.UNKNOWN,
    RunHealth.STARTING,
    RunHealth.FINISHED,
    RunHealth.HEALTHY,
)


def condition(
    job: Job | Nothing | Unavailable | None,
    training: Training,
    alerts: Iterable[Alert],
    checks: Mapping[str, Check],
) -> RunHealth:
    """The worst of what the tables say. A run whose job could not be read is unknown."""
    if not isinstance(job, Job):
        return RunHealth.UNKNOWN
    health = BY_STATE[job.state]
    firing = [checks[alert.check] for alert in alerts if alert.firing]
    if health is RunHealth.FINISHED:
        return _worst(health, (AT_THE_END.get(check.name, health) for check in firing))
    if not job.state.live:
        return health
    if health is RunHealth.HEALTHY:
        health = BY_PROOF[training.proof]
    return _worst(
        health, (_health_of_check(check) for check in firing if check.severity is not Severity.INFO)
    )


def _health_of_check(check: Check) -> RunHealth:
    return BY_CHECK.get(check.name, BY_TOPIC[check.topic])


def _worst(health: RunHealth, others: Iterable[RunHealth]) -> RunHealth:
    return min((health, *others), key=_WORST.index)
