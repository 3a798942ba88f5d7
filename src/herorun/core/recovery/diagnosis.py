"""Why an instance ended: one answer from the scheduler, the log, the store and the disks.

All outputs show this sentence, so that none guesses from one source: a job whose output root was
deleted leaves a log that looks like a bug in the code.
"""

import re
from collections.abc import Mapping
from enum import StrEnum

from herorun.core.evidence import Job, JobState, Triage
from herorun.core.health.disk_forecast import format_room, is_full
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.recovery.job_evidence import (
    EndContext as EndContext,
    end_context_of as end_context_of,
)
from herorun.core.recovery.lost_root import LostRoot, lost_root


class Cause(StrEnum):
    """The cause of an end, in the classes that decide about a relaunch."""

    PREEMPTION = "preemption"
    TIME_LIMIT = "time-limit"
    INFRA = "infra"
    OUT_OF_MEMORY = "oom"
    NUMERIC = "numeric"
    CODE_BUG = "code-bug"
    LOST_OUTPUT = "lost-output"  # its output root, or its temporary root, was gone
    REFUSED = "refused"
    BY_HAND = "by-hand"
    BY_US = "by-us"  # `herorun stop`, or the babysitter under the contract's `stop_on`
    UNKNOWN = "unknown"

    @property
    def free(self) -> bool:
        """Whether a relaunch after it counts against no budget, because it is no fault of the
        run.
        """
        return self in (Cause.PREEMPTION, Cause.TIME_LIMIT)


@dataclass(frozen=True)
class Diagnosis:
    """What ended the instance, in one sentence, and what a person should do about it."""

    cause: Cause
    why: str
    basis: str  # the basis of the class: the log's class, or the scheduler's state
    place: str = ""  # file and line, if the log names them
    advice: str = ""
    needs_person: bool = False  # a relaunch alone does not cure it


ROOT_GONE, ROOT_BACK = "output-root-gone", "output-root-back"
TEMPORARY_GONE, TEMPORARY_BACK = "temporary-root-gone", "temporary-root-back"
LOST_TEMPORARY = frozenset({TEMPORARY_GONE, TEMPORARY_BACK})
_KINDS = {False: "an output root", True: "a temporary root"}
DISK_FULL = "disk-full"
LOG_SHOWS = " (the error in the job's log is of class "
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
    "storage": Cause.INFRA,
    "storage-auth": Cause.INFRA,
    DISK_FULL: Cause.INFRA,
    "oom-host": Cause.OUT_OF_MEMORY,
    "oom-accelerator": Cause.OUT_OF_MEMORY,
    "hbm-exhaustion": Cause.OUT_OF_MEMORY,
    "numeric": Cause.NUMERIC,
    "code-bug-small": Cause.CODE_BUG,
    "code-bug-complex": Cause.CODE_BUG,
    "data": Cause.CODE_BUG,
    "refused": Cause.REFUSED,
}
# A full disk, a lost permission or a broken data pipeline would fail the same job again.
_ASKS = frozenset({DISK_FULL, "storage-auth", "data", "code-bug-complex"})
_COMES_AGAIN = (Cause.CODE_BUG, Cause.NUMERIC, Cause.REFUSED)
# Classes that a failed write on a full disk may get if the trainer does not print the system's
# error.
_NO_ERROR = frozenset({"benign", "not-a-failure"})
_PERHAPS_NO_ROOM = frozenset({"", "unknown", "benign", "code-bug-complex"})
_ABOUT_FILES = frozenset({"storage", "storage-auth", "data", "unknown", "code-bug-complex"})
_PREEMPTION = lazy_regex(r"preempt", re.I)
_LIMIT = lazy_regex(r"time.?limit|timed?.?out|deadline", re.I)


def diagnose(job: Job, scene: EndContext) -> Diagnosis:
    """The diagnosis by the most certain source: an intentional stop, the store, the scheduler's
    state, the disks, then the log.
    """
    by_log = _by_log(job, scene)
    if by_log.cause in (Cause.BY_US, Cause.BY_HAND, Cause.REFUSED):
        return by_log
    return _lost_output(job, scene) or _no_room(job, scene) or by_log


def needs_fix(failure: str) -> bool:
    """Whether the same job would fail again: the class of the log's failure says so."""
    return failure in _ASKS or _CLASSES.get(failure) in _COMES_AGAIN


# --- the store ------------------------------------------------------------------------------------


def _lost_output(job: Job, scene: EndContext) -> Diagnosis | None:
    """The diagnosis of a missing root, which takes precedence over the log; also if the root has
    reappeared since.
    """
    root = lost_root(scene)
    if root is None:
        return _back(job, scene)
    why = f"{job.ending}; {root.message}{_log_clause(scene.triage, LOG_SHOWS, ')')}"
    advice = f"{root.advice} herorun never relaunches into {_KINDS[root.temporary]} that is gone."
    symptom = TEMPORARY_GONE if root.temporary else ROOT_GONE
    return Diagnosis(Cause.LOST_OUTPUT, why, symptom, _place(scene.triage), advice, True)


def _back(job: Job, scene: EndContext) -> Diagnosis | None:
    root, history = scene.root, scene.history
    if root is None or job.instance not in history.lost_output:
        return None
    temporary = job.instance in history.lost_temporary
    path, exists = (root.temporary, root.temporary_there) if temporary else (root.path, root.there)
    if not exists:
        return None
    why = f"{job.ending}; {LostRoot(path, temporary).name} was gone, and is back"
    advice = f"Check that {path} has all its earlier contents."
    symptom = TEMPORARY_BACK if temporary else ROOT_BACK
    return Diagnosis(Cause.LOST_OUTPUT, why, symptom, _place(scene.triage), advice, True)


# --- the disks ------------------------------------------------------------------------------------


def _no_room(job: Job, scene: EndContext) -> Diagnosis | None:
    """The diagnosis of a full disk under the output root, if neither the scheduler nor the log
    names another cause.
    """
    failure_class, disk = scene.triage.failure_class if scene.triage else "", _disk(scene)
    if failure_class not in _PERHAPS_NO_ROOM or disk is None or not disk[2] or job.state in _STATES:
        return None
    path, message, _ = disk
    why = (
        f"{job.ending}; the disk under {path} is full: "
        f"{message}{_log_clause(scene.triage, LOG_SHOWS, ')')}"
    )
    advice = f"Make room for {path}; herorun never deletes the run's data by itself."
    return Diagnosis(Cause.INFRA, why, DISK_FULL, _place(scene.triage), advice, True)


def _disk(scene: EndContext) -> tuple[str, str, bool] | None:
    """The disk under the output root, its free space, and whether that is almost nothing."""
    if scene.root is None or scene.disks is None:
        return None
    disk = scene.disks.now.get(scene.root.path)
    return (scene.root.path, format_room(disk), is_full(disk)) if disk else None


# --- the scheduler and the log --------------------------------------------------------------------


def _by_log(job: Job, scene: EndContext) -> Diagnosis:
    triage = scene.triage
    cause = _cause(job, triage, dict(scene.history.stopped))
    why = f"{job.ending}{_describe_diagnosis(job, triage)}{_store_and_disk_text(triage, scene)}"
    symptom = triage.failure_class if triage else job.raw or job.state.value
    place = _place(triage) or (triage.file if triage else "")
    return Diagnosis(
        cause, why, symptom, place, triage.advice if triage else "", _asks(triage, cause)
    )


def _cause(job: Job, triage: Triage | None, stop_reasons: Mapping[str, str]) -> Cause:
    """The cause by the most certain source: our own order, check-in, the scheduler's state, then
    the log.
    """
    if job.instance in stop_reasons:
        return Cause.BY_US
    if job.is_refused:
        return Cause.REFUSED
    log_cause = _CLASSES.get(triage.failure_class) if triage else None
    if job.state is JobState.CANCELLED:
        return _diagnose_cancellation(job, log_cause)
    return _STATES.get(job.state) or log_cause or Cause.UNKNOWN


def _diagnose_cancellation(job: Job, log_cause: Cause | None) -> Cause:
    """The cause of a cancelled job: stopped by a person only if nothing else explains it."""
    if job.stopped_by is not None:
        return Cause.BY_HAND
    if message := job.other_cause:
        if _PREEMPTION.search(message):
            return Cause.PREEMPTION
        return Cause.TIME_LIMIT if _LIMIT.search(message) else Cause.INFRA
    return (
        log_cause
        if log_cause in (Cause.PREEMPTION, Cause.TIME_LIMIT, Cause.INFRA)
        else Cause.BY_HAND
    )


def _describe_diagnosis(job: Job, triage: Triage | None) -> str:
    """The message: the log's cause, or a certain state of the scheduler followed by the log's
    cause.
    """
    certain, log_cause = (
        _STATES.get(job.state),
        _CLASSES.get(triage.failure_class) if triage else None,
    )
    if certain and log_cause and certain is not log_cause:
        return _log_clause(triage, "; its log says ", ", but the scheduler's state decides")
    if triage and triage.failure_class in _NO_ERROR:
        return "; its log shows no error"
    if triage and triage.failure_class == "unknown":
        return f"; its log does not say why ({triage.excerpt})" if triage.excerpt else ""
    return _log_clause(triage, "; the error in its log is of class ")


def _log_clause(triage: Triage | None, before: str, after: str = "") -> str:
    if triage is None or triage.failure_class in _NO_ERROR:
        return ""
    at = f" at {place}" if (place := _place(triage)) else ""
    excerpt = f" ({triage.excerpt})" if triage.excerpt else ""
    return f"{before}{triage.failure_class}{at}{excerpt}{after}"


def _store_and_disk_text(triage: Triage | None, scene: EndContext) -> str:
    """What the store and the disks add if the log mentions files or shows no cause."""
    failure_class, disk = triage.failure_class if triage else "unknown", _disk(scene)
    if failure_class == DISK_FULL and disk:
        path, message, full = disk
        return f"; {path}: {message}" + (
            "" if full else ", so another disk or a quota was full, or room was made since"
        )
    if failure_class == "data" and scene.root and not scene.root.there:
        return f"; its output root {scene.root.path} has no data"
    if failure_class in _ABOUT_FILES and scene.root_unread:
        return f"; could not check whether its output root exists: {scene.root_unread}"
    candidates = (
        scene.checkpoints.candidates if scene.checkpoints and failure_class == "unknown" else ()
    )
    newest = max(candidates, key=lambda candidate: candidate.step, default=None)
    return (
        f"; its checkpoint of step {newest.step} is half-written"
        if newest and newest.incomplete
        else ""
    )


def _place(triage: Triage | None) -> str:
    return f"{triage.file}:{triage.line}" if triage and triage.file and triage.line else ""


def _asks(triage: Triage | None, cause: Cause) -> bool:
    """Whether a relaunch alone does not cure it. After lost nodes, links and chips an uncertain log
    is no reason to ask: the run is relaunched, and a question follows if it repeats.
    """
    if triage is None or triage.failure_class in _ASKS:
        return triage is not None
    return triage.needs_person and not (cause is Cause.INFRA or cause.free)
