"""The cluster would not take the request as it is sent.

Why: a server or a webhook silently drops or changes a field, or a quota or a limit range refuses the pods of an accepted job: the job then waits, or runs differently than reviewed.
Fix: change `[scheduler]` as the message says; a change that you accept is named under `[scheduler] ignore_changes`.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import RequestReview
from herorun.core.finding import Verdict, failed, passed


@check(Gate.LAUNCH, Response.BLOCK)
def refused_request(review: RequestReview) -> list[Verdict]:
    """The back end's own dry run decides: one answer for each objection."""
    objections = (*review.refused, *review.changed)
    if not objections:
        return [passed(f"{review.where} would take the request as it is sent")]
    return [failed(message, subject=message) for message in objections]
