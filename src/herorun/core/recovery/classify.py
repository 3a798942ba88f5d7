"""How an instance ended, as the recovery policy needs it."""

from datetime import datetime

from herorun.core.evidence import Checkpoints, Instance, Job, JobState, Triage
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_regex import lazy_regex
from herorun.core.recovery.diagnosis import BAD_ACCELERATOR as BAD_ACCELERATOR
from herorun.core.recovery.diagnosis import Cause as Cause
from herorun.core.recovery.diagnosis import Scene, diagnose


@dataclass(frozen=True, kw_only=True)
class Ending:
    """An end without success. `advanced` is None where the checkpoints could not be read or
    dated.
    """

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
    advice: str = ""  # what a person does about it


_ADDRESS = lazy_regex(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")


def ending_of(
    job: Job, scene: Scene, instance: Instance, start_step: int, now: datetime
) -> Ending | None:
    """None while it lives, if it is unknown how it ended, and where it ended well."""
    if not job.state.ended or job.state in (JobState.SUCCEEDED, JobState.GONE):
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
        advanced=landed(scene.checkpoints, instance, start_step, now)
        if scene.checkpoints is not None
        else None,
        place=diagnosis.place,
        needs_person=diagnosis.needs_person,
        worker=_worker(scene.triage),
        seen=diagnosis.basis,
        advice=diagnosis.advice,
    )


def _worker(triage: Triage | None) -> str:
    """The one address in the line that blames an accelerator; empty where there is none or a
    choice.
    """
    if triage is None or triage.failure_class != BAD_ACCELERATOR:
        return ""
    addresses = set(_ADDRESS.findall(triage.excerpt))
    return addresses.pop() if len(addresses) == 1 else ""


def landed(
    checkpoints: Checkpoints, instance: Instance, start_step: int, now: datetime
) -> bool | None:
    """Whether a complete checkpoint beyond its start was written since the instance was started.

    A start in the future was told by a clock that was set back since: then no time of a checkpoint
    can be held against it, and None is said of one beyond the start.
    """
    since = instance.intended or instance.started
    beyond = [c for c in checkpoints.candidates if c.complete and c.step > start_step]
    if any(c.modified is None or c.modified >= since for c in beyond):
        return True
    return None if beyond and since > now else False
