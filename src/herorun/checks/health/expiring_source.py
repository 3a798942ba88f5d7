"""A rule of the store will soon delete the checkpoint that a recovery needs.

Why: a run that waits for a person over a weekend could find its only recovery source deleted by a
lifecycle rule.
Fix: copy it to the permanent root, or continue from it before that time.
Source: marin-community/marin, manage-hero-run: never rely on permanent retention alone to protect a
rollback source.
"""

from datetime import timedelta
from typing import ClassVar

from herorun.core.check import Gate, Response, Topic, check
from herorun.core.contract import Contract
from herorun.core.durations import format_span
from herorun.core.evidence import Job, Now, RecoverySource
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown
from herorun.core.lazy_dataclass import dataclass
from herorun.core.lazy_pydantic import PositiveFloat
from herorun.core.notify.escalation import EscalationReason


@dataclass(frozen=True)
class Limits:
    """How long before the deletion the check fires: `ended_notice` if the job has ended; for a live
    job, `intervals` save intervals, or `live_notice` if no interval is stated.
    """

    RENAMED: ClassVar = {"ended": "ended_notice", "live": "live_notice"}

    ended_notice: timedelta = timedelta(hours=24)
    live_notice: timedelta = timedelta(hours=1)
    intervals: PositiveFloat = 3.0


@check(Gate.HEALTH, Response.ESCALATE, topic=Topic.JOB, asks=EscalationReason.LINEAGE)
def expiring_source(
    source: RecoverySource, contract: Contract, job: Job, now: Now, limits: Limits
) -> Verdict:
    if source.expires is None and source.unknown:
        return unknown(
            f"could not check whether {source.path} expires: {source.unknown}",
            subject=source.path,
        )
    if source.expires is None and source.unreported:
        return not_applicable(f"{source.path}: {source.unreported}", subject=source.path)
    if source.expires is None:
        return passed(f"no lifecycle rule of its store deletes {source.path}", subject=source.path)
    every = contract.checkpoints.temporary_every
    max_age = limits.intervals * every if every else limits.live_notice
    within = max_age if job.state.live else limits.ended_notice
    message = f"{source.path} expires at {source.expires:%Y-%m-%dT%H:%MZ} ({source.rule})"
    if source.expires - now.at < within:
        return failed(
            f"{message}, in less than {format_span(within)}, and a relaunch would start from it",
            subject=source.path,
        )
    return passed(f"{message}, in more than {format_span(within)}", subject=source.path)
