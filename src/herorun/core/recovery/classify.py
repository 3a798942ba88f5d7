"""How an instance ended, as the recovery policy needs it."""

from datetime import datetime

from herorun.core.evidence import Checkpoints, Instance, Job, JobState, Triage
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.recovery.diagnosis import (
    BAD_ACCELERATOR as BAD_ACCELERATOR,
    Cause as Cause,
    EndContext,
    diagnose,
)


@dataclass(frozen=True, kw_only=True)
class Ending:
    """An end without success. `advanced` is None if the checkpoints could not be read or dated."""

    instance: str
    cause: Cause
    fingerprint: str  # equal for two ends that are the same failure
    why: str  # as text
    ended: datetime
    advanced: bool | None = None  # whether a complete checkpoint was saved since its start
    place: str = ""  # file and line of a code bug
    needs_person: bool = False
    worker: str = ""  # address of the node that its log blames
    seen: str = ""  # the basis of the class: the log's class, or the scheduler's state
    advice: str = ""  # what a person should do about it


_ADDRESS = lazy_regex(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")


def ending_of(
    job: Job, scene: EndContext, instance: Instance, start_step: int, now: datetime
) -> Ending | None:
    """The ending; None while the job is live, if its end is unknown, and after success."""
    if not job.state.is_final or job.state in (JobState.SUCCEEDED, JobState.GONE):
        return None
    diagnosis, fingerprint = diagnose(job, scene), scene.triage.fingerprint if scene.triage else ""
    own = f"{diagnosis.cause}: {job.signal or job.exit_code or job.reason or job.state}"
    return Ending(
        instance=instance.name,
        cause=diagnosis.cause,
        fingerprint=diagnosis.cause.value
        if diagnosis.cause is Cause.LOST_OUTPUT
        else fingerprint or own,
        why=diagnosis.why,
        ended=job.ended or now,
        advanced=has_new_checkpoint(scene.checkpoints, instance, start_step, now)
        if scene.checkpoints is not None
        else None,
        place=diagnosis.place,
        needs_person=diagnosis.needs_person,
        worker=_worker(scene.triage),
        seen=diagnosis.basis,
        advice=diagnosis.advice,
    )


def _worker(triage: Triage | None) -> str:
    """The address in the line that blames an accelerator; "" if there is none, or more than one."""
    if triage is None or triage.failure_class != BAD_ACCELERATOR:
        return ""
    addresses = set(_ADDRESS.findall(triage.excerpt))
    return addresses.pop() if len(addresses) == 1 else ""


def has_new_checkpoint(
    checkpoints: Checkpoints, instance: Instance, start_step: int, now: datetime
) -> bool | None:
    """Whether a complete checkpoint beyond the instance's start step was written since it was
    started.

    A start dated in the future comes from a clock that was set back since: then times cannot be
    compared, and the result is None for a checkpoint beyond the start step.
    """
    since = instance.intended or instance.started
    beyond = [c for c in checkpoints.candidates if c.complete and c.step > start_step]
    if any(c.modified is None or c.modified >= since for c in beyond):
        return True
    return None if beyond and since > now else False
