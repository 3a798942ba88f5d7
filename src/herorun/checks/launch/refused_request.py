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
    if not review.refused and not review.changed:
        return [passed(f"{review.where} accepts the request unchanged")]
    refusals = [
        failed(f"{review.where} refuses the request: {message}", subject=message)
        for message in review.refused
    ]
    changes = [
        failed(f"{review.where} would change the request: {message}", subject=message)
        for message in review.changed
    ]
    return [*refusals, *changes]
