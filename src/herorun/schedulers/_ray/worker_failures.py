"""Why the workers of a failed job were lost, from Ray's state API. Pure.

The driver of a gang runs elsewhere than its workers. When their node is lost, or Ray's memory
monitor kills one, the driver ends with an exit code of its own, and the ten log lines that Ray
keeps may be about anything: often they are those of the raylet that died.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from herorun.core.evidence import Job, JobState
from herorun.core.lazy_dataclass import dataclass
from herorun.schedulers._ray.parse import RayJob, time_of

# from the loss of a worker to the end of a driver that did not survive it
SOON = timedelta(minutes=5)
MAY_BE_LOST = (JobState.FAILED, JobState.OUT_OF_MEMORY)  # what Ray's record of a job says of one
_OF_TASK = {"NODE_DIED": JobState.NODE_FAILED, "OUT_OF_MEMORY": JobState.OUT_OF_MEMORY}


@dataclass(frozen=True)
class WorkerFailure:
    """A task that ended otherwise than with an error of its own."""

    task: str
    state: JobState
    node: str  # the id of the node that it ran on
    at: datetime


def asks_for_losses(record: RayJob) -> bool:
    """Whether the command ended by itself after it had joined the cluster."""
    return bool(record.status == "FAILED" and record.exit_code and record.driver and record.ended)


def loss_of(record: RayJob, tasks: Any, actors: Any) -> WorkerFailure | None:
    """The first loss shortly before the job's end; None where there was none, or where the shape is
    another one.
    """
    try:
        deaths = {
            each["actor_id"]: _of_actor(each.get("death_cause")) for each in _failure_rows(actors)
        }
        losses = [loss for each in _failure_rows(tasks) if (loss := _loss(each, deaths))]
    except (KeyError, TypeError, AttributeError):
        return None
    ended_at = record.ended
    recent = [loss for loss in losses if ended_at and ended_at - SOON <= loss.at <= ended_at]
    return min(recent, key=lambda loss: loss.at, default=None)


def with_loss(job: Job, loss: WorkerFailure | None, address: str) -> Job:
    """`address` is that of the node, if it is dead."""
    if loss is None or job.state not in (JobState.FAILED, loss.state):
        return job
    if loss.state is JobState.OUT_OF_MEMORY:
        return replace(
            job,
            state=loss.state,
            reason=f"{job.reason}; Ray killed its task {loss.task} for memory",
        )
    where = address or loss.node
    return replace(
        job,
        state=loss.state,
        reason=f"{job.reason}; its task {loss.task} was lost with the node {where}",
        failed_on=(where,) if where else (),
    )


def _failure_rows(document: Any) -> list[Mapping[str, Any]]:
    return list(document["data"]["result"]["result"])


def _loss(task: Mapping[str, Any], deaths: Mapping[str, JobState | None]) -> WorkerFailure | None:
    word, at = task.get("error_type"), time_of(task.get("end_time_ms"))
    state = _OF_TASK.get(word or "")
    if word in ("ACTOR_DIED", "ACTOR_UNAVAILABLE"):
        state = deaths.get(task.get("actor_id") or "")
    if state is None or at is None:
        return None
    return WorkerFailure(
        str(task.get("name") or "a task"), state, str(task.get("node_id") or ""), at
    )


def _of_actor(cause: Any) -> JobState | None:
    details = cause or {}
    if details.get("oom_context"):
        return JobState.OUT_OF_MEMORY
    reason = (details.get("actor_died_error_context") or {}).get("reason")
    return JobState.NODE_FAILED if reason == "NODE_DIED" else None
