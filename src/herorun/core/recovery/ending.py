"""How an instance ended: what the recovery policy goes by."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from herorun.core.evidence import Checkpoints, Instance, Job, JobState, Triage


class Cause(StrEnum):
    """Why it ended, as far as a relaunch is concerned."""

    PREEMPTION = "preemption"
    TIME_LIMIT = "time-limit"
    INFRA = "infra"
    OUT_OF_MEMORY = "oom"
    NUMERIC = "numeric"
    CODE_BUG = "code-bug"
    REFUSED = "refused"
    BY_HAND = "by-hand"
    BY_US = "by-us"  # `herorun stop`, or the babysitter under the contract's `stop_on`
    UNKNOWN = "unknown"

    @property
    def free(self) -> bool:
        """Nobody's fault: a relaunch after it counts against no budget."""
        return self in (Cause.PREEMPTION, Cause.TIME_LIMIT)


@dataclass(frozen=True)
class Ending:
    """An end without success. `advanced` is None where the checkpoints could not be read."""

    instance: str
    cause: Cause
    fingerprint: str  # equal for two ends that are the same failure
    why: str  # in words
    ended: datetime
    advanced: bool | None = None  # whether a new complete checkpoint landed since it was started
    place: str = ""  # file and line of a code bug
    needs_person: bool = False
    worker: str = ""  # address of the node that its log blames
    seen: str = ""  # what the class goes by: the log's own class, or the scheduler's word


_STATES: Mapping[JobState, Cause] = {
    JobState.PREEMPTED: Cause.PREEMPTION,
    JobState.TIMED_OUT: Cause.TIME_LIMIT,
    JobState.OUT_OF_MEMORY: Cause.OUT_OF_MEMORY,
    JobState.NODE_FAILED: Cause.INFRA,
    JobState.UNSCHEDULABLE: Cause.INFRA,
}
BAD_ACCELERATOR = "bad-accelerator"
_CLASSES: Mapping[str, Cause] = {
    "preemption": Cause.PREEMPTION,
    "timeout": Cause.TIME_LIMIT,
    "node-failure": Cause.INFRA,
    "network-collective": Cause.INFRA,
    BAD_ACCELERATOR: Cause.INFRA,
    "capacity": Cause.INFRA,
    "host-contention": Cause.INFRA,
    "storage-auth": Cause.INFRA,
    "disk-full": Cause.INFRA,
    "oom-host": Cause.OUT_OF_MEMORY,
    "oom-accelerator": Cause.OUT_OF_MEMORY,
    "hbm-exhaustion": Cause.OUT_OF_MEMORY,
    "numeric": Cause.NUMERIC,
    "code-bug-small": Cause.CODE_BUG,
    "code-bug-complex": Cause.CODE_BUG,
    "data": Cause.CODE_BUG,
    "refused": Cause.REFUSED,
}
# A full disk, a lost permission, a broken data pipeline: the same job in the same place would meet it again.
_ASKS = frozenset({"disk-full", "storage-auth", "data", "code-bug-complex"})
_PREEMPTED = re.compile(r"preempt", re.I)
_LIMIT = re.compile(r"time.?limit|timed?.?out|deadline", re.I)
_ADDRESS = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")


def ending_of(
    job: Job,
    triage: Triage | None,
    checkpoints: Checkpoints | None,
    instance: Instance,
    start_step: int,
    stopped: Mapping[str, str],
    now: datetime,
) -> Ending | None:
    """None while it lives, where nobody knows how it ended, and where it ended well."""
    if not job.state.ended or job.state in (JobState.SUCCEEDED, JobState.GONE):
        return None
    cause = _cause(job, triage, stopped)
    told = triage.fingerprint if triage else ""
    place = f"{triage.file}:{triage.line}" if triage and triage.file and triage.line else ""
    return Ending(
        instance.name,
        cause,
        told or f"{cause}: {job.signal or job.exit_code or job.reason or job.state}",
        _why(job, triage, place),
        job.ended or now,
        landed(checkpoints, instance, start_step) if checkpoints is not None else None,
        place or (triage.file if triage else ""),
        _asks(triage, cause),
        _worker(triage),
        triage.failure_class if triage else job.raw or job.state.value,
    )


def _cause(job: Job, triage: Triage | None, stopped: Mapping[str, str]) -> Cause:
    """What is certain first: our own order, what check-in said, the scheduler's word, then the log's."""
    if job.instance in stopped:
        return Cause.BY_US
    if job.refused:
        return Cause.REFUSED
    told = _CLASSES.get(triage.failure_class) if triage else None
    if job.state is JobState.CANCELLED:
        return _cancelled(job, told)
    return _STATES.get(job.state) or told or Cause.UNKNOWN


def _cancelled(job: Job, told: Cause | None) -> Cause:
    """Stopped by hand only if nothing else explains it."""
    if job.stopped_by is not None:
        return Cause.BY_HAND
    if words := job.other_cause:
        if _PREEMPTED.search(words):
            return Cause.PREEMPTION
        return Cause.TIME_LIMIT if _LIMIT.search(words) else Cause.INFRA
    return told if told in (Cause.PREEMPTION, Cause.TIME_LIMIT, Cause.INFRA) else Cause.BY_HAND


def _why(job: Job, triage: Triage | None, place: str) -> str:
    said = job.ending
    if triage is None:
        return said
    excerpt = f" ({triage.excerpt})" if triage.excerpt else ""
    return f"{said}; its log says {triage.failure_class}{f' at {place}' if place else ''}{excerpt}"


def _asks(triage: Triage | None, cause: Cause) -> bool:
    """Whether a relaunch alone does not cure it. Of lost nodes, links and chips the log's own doubt is no reason:
    they are relaunched directly, and asked about once it repeats."""
    if triage is None or triage.failure_class in _ASKS:
        return triage is not None
    return triage.needs_person and not (cause is Cause.INFRA or cause.free)


def _worker(triage: Triage | None) -> str:
    """The one address in the line that blames an accelerator; empty where there is none or a choice."""
    if triage is None or triage.failure_class != BAD_ACCELERATOR:
        return ""
    found = set(_ADDRESS.findall(triage.excerpt))
    return found.pop() if len(found) == 1 else ""


def landed(checkpoints: Checkpoints, instance: Instance, start_step: int) -> bool:
    """Whether a complete checkpoint beyond its start was written since the instance was started."""
    since = instance.intended or instance.started
    return any(
        c.complete and c.step > start_step and (c.modified is None or c.modified >= since)
        for c in checkpoints.candidates
    )
