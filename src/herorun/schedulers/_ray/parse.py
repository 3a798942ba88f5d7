"""Parses Ray's answers into our states; Ray's own state is kept. Pure."""

import re
import signal
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Job, JobState
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.redaction.scrub import scrub
from herorun.schedulers._ray.request import INSTANCE

STATES = {
    # Ray does not know whether it is being built: its message names all that may be
    "PENDING": JobState.PENDING,
    "RUNNING": JobState.RUNNING,
    "SUCCEEDED": JobState.SUCCEEDED,
    "STOPPED": JobState.CANCELLED,
    "FAILED": JobState.FAILED,  # see `ERRORS` and the message
}
ERRORS = {  # `error_type` of a FAILED job, where it says more than that
    "JOB_SUPERVISOR_ACTOR_START_TIMEOUT": JobState.UNSCHEDULABLE,
    "JOB_SUPERVISOR_ACTOR_UNSCHEDULABLE": JobState.UNSCHEDULABLE,
}
# Ray's own monitor; an accelerator's memory is another matter, and so is Ray's list of guesses
_MEMORY = lazy_regex(
    r"ray\.exceptions\.OutOfMemoryError|node (was )?running low on memory|memory usage threshold"
    # The end of what the driver raised; lines that Ray passes on from others begin otherwise.
    r"|^Refer to the documentation on how to address the out of memory issue",
    re.IGNORECASE | re.MULTILINE,
)
_NODE = lazy_regex(
    r"\bnode (has |was )?(died|dead|crashed|terminated|preempted)|node is "
    r"dead|NodeDiedError|raylet (has )?(died|crashed)",
    re.IGNORECASE,
)
_SUPERVISOR_END = (
    "actor|unexpected error|supervisor"  # the supervisor's own end, and not that of the command
)
_LOGS = lazy_regex(r",? last available logs \(truncated.*", re.DOTALL)
_NAMES = lazy_regex(
    r"^\t(class_name|actor_id|pid|name|namespace|ip): "
)  # of the supervisor, before the cause


@dataclass(frozen=True)
class RayStop:
    """Who ordered the end, as recorded in the state folder of the clone that passed it on."""

    by: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class RayJob:
    """One submitted job, as Ray lists it."""

    name: str  # the submission id
    status: str
    instance: str  # by its metadata; empty for a job that is not ours
    metadata: Mapping[str, str]
    entrypoint: str
    message: str
    error: str
    exit_code: int | None
    submitted: datetime | None
    ended: datetime | None
    node: str  # the id of the node that it was placed on; empty before that
    driver: str  # Ray's own id of the job, once it has connected to the cluster


def record_of(record: Any) -> RayJob | None:
    """A submitted job; None for a driver that was started another way. `CouldNotLook` at another
    shape.
    """
    if not isinstance(record, dict) or not isinstance(record.get("status"), str):
        raise CouldNotLook("Ray's answer about a job has an unknown format.")
    name = record.get("submission_id")
    if not name:
        return None
    metadata = record.get("metadata") or {}
    code = record.get("driver_exit_code")
    return RayJob(
        name=str(name),
        status=record["status"],
        instance=str(metadata.get(INSTANCE, "")),
        metadata={str(key): str(value) for key, value in metadata.items()},
        entrypoint=str(record.get("entrypoint") or ""),
        message=str(record.get("message") or ""),
        error=str(record.get("error_type") or ""),
        exit_code=code if isinstance(code, int) else None,
        submitted=time_of(record.get("start_time")),
        ended=time_of(record.get("end_time")),
        node=str(record.get("driver_node_id") or ""),
        driver=str(record.get("job_id") or ""),
    )


def records_of(records: Any) -> tuple[RayJob, ...]:
    if not isinstance(records, list):
        raise CouldNotLook("Ray's list of jobs has an unknown format.")
    return tuple(record for each in records if (record := record_of(each)))


def time_of(milliseconds: object) -> datetime | None:
    if not isinstance(milliseconds, int | float) or not milliseconds > 0:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def job_of(
    record: RayJob, instance: str, stop: RayStop | None = None, lost_on: str = "", why: str = ""
) -> Job:
    """`lost_on` names the node that it ran on, if that node is dead; `why` says more about a
    wait.
    """
    state = ray_state_of(record, lost_on)
    code = record.exit_code
    name = _signal(-code) if code is not None and code < 0 else None
    if stop and state in (JobState.FAILED, JobState.UNSCHEDULABLE) and record.exit_code is None:
        # it was asked to end before it could begin, or its supervisor went with it
        state = JobState.CANCELLED
    is_placed = state is not JobState.PENDING
    stop_note = (
        f"asked to stop by {stop.by}, which Ray does once it is placed"
        if stop and not is_placed
        else ""
    )
    return Job(
        id=record.name,
        instance=instance,
        state=state,
        raw=f"{record.status} {record.error}".strip(),
        reason="; ".join(part for part in (_ray_message(record), why, stop_note) if part),
        exit_code=None if name else code,
        signal=name,
        stopped_by=stop.by if stop and state is JobState.CANCELLED else None,
        started=record.submitted if is_placed else None,
        ended=record.ended,
        submitted=record.submitted,
        failed_on=(lost_on,) if lost_on and state is JobState.NODE_FAILED else (),
    )


def ray_state_of(record: RayJob, lost_on: str = "") -> JobState:
    state = STATES.get(record.status, JobState.UNKNOWN)
    if state is not JobState.FAILED:
        return state
    if record.error in ERRORS:
        return ERRORS[record.error]
    if _MEMORY.search(record.message):
        return JobState.OUT_OF_MEMORY
    if supervisor_lost(record) and (lost_on or _NODE.search(record.message)):
        return JobState.NODE_FAILED
    return JobState.FAILED


def supervisor_lost(record: RayJob) -> bool:
    """Whether Ray lost sight of the job, and not the job itself ended."""
    return (
        record.status == "FAILED"
        and record.exit_code is None
        and bool(
            re.search(_SUPERVISOR_END, f"{record.error} {record.message[:200]}", re.IGNORECASE)
        )
    )


def _ray_message(record: RayJob) -> str:
    """Ray's own message, without the log that it appends and the names of its supervisor."""
    lines = [
        line
        for line in _LOGS.sub("", record.message).strip().splitlines()
        if not _NAMES.match(line)
    ]
    return scrub(" ".join(line.strip() for line in lines[:3] if line.strip()))[:400]


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
