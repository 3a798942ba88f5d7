"""A checkpoint was started long ago and is not complete.

Why: a failed write takes space, and a person who picks the newest folder by name picks this one.
Fix: find out in the job's log why the save did not end (`herorun logs RUN`); herorun never starts
from it, and a person may delete it once the log shows that the save failed or ended.
Source: a save is overdue after half an hour, or after three times as long as the last save took.
"""

from datetime import timedelta
from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.durations import format_span
from herorun.core.evidence import Candidate, Checkpoints, Nothing, Now, SaveTime
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat


@dataclass(frozen=True)
class Limits:
    RENAMED: ClassVar = {"least": "min_age"}

    min_age: timedelta = timedelta(minutes=30)
    saves: PositiveFloat = 3.0


@check(Gate.HEALTH, Response.WARN, topic=Topic.CHECKPOINTS)
def incomplete_checkpoint(
    checkpoints: Checkpoints, save: SaveTime | Nothing, now: Now, limits: Limits
) -> list[Verdict]:
    """One verdict for each incomplete checkpoint, by its path. If its store reports no time, it is
    only listed.
    """
    incomplete = [c for c in checkpoints.candidates if c.incomplete and not c.alike]
    if not incomplete:
        return [passed("every checkpoint in the listing is complete")]
    took = timedelta(seconds=save.seconds) if isinstance(save, SaveTime) else timedelta()
    most = max(limits.min_age, limits.saves * took)
    return [_judge_candidate(candidate, now, most) for candidate in incomplete]


def _judge_candidate(candidate: Candidate, now: Now, most: timedelta) -> Verdict:
    if candidate.modified is None:
        message = (
            f"{candidate.path} is not complete, and its store does not report when it last changed"
        )
        return not_applicable(message, candidate.problem, subject=candidate.path)
    idle = now.at - candidate.modified
    message = f"{candidate.path} last changed {format_span(idle)} ago"
    limit = format_span(most)
    if idle > most:
        message += f", more than the limit of {limit}, and is not complete: {candidate.problem}"
        return failed(message, subject=candidate.path)
    message += f", within the limit of {limit}, and may still be written: {candidate.problem}"
    return passed(message, subject=candidate.path)
