"""The cluster refuses the request, or would change it.

Why: a server or a webhook silently drops or changes a field, or a quota or a limit range refuses
the pods of an accepted job: the job then waits, or runs differently than reviewed.
Fix: change `[scheduler]` as the message says; name a change that you accept under `[scheduler]
ignore_changes`.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import RequestReview
from herorun.core.finding import Verdict, failed, passed


@check(Gate.LAUNCH, Response.BLOCK)
def refused_request(review: RequestReview) -> list[Verdict]:
    """By the back end's own dry run: one verdict for each objection."""
    objections = (*review.refused, *review.changed)
    if not objections:
        return [passed(f"{review.where} accepts the request unchanged")]
    return [failed(message, subject=message) for message in objections]
