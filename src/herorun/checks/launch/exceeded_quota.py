"""A quota has less left than the request needs.

Why: the cluster accepts the job but not its pods: it waits until other work ends, and may never
start.
Fix: ask for less, wait, or ask the person who sets the quota.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import RequestReview
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown


@check(Gate.LAUNCH, Response.BLOCK)
def exceeded_quota(review: RequestReview) -> list[Verdict]:
    """One verdict for each quota and resource; all pods count together."""
    if "exceeded" in review.inapplicable:
        return [not_applicable(f"{review.where} has no quotas that could be read")]
    if "exceeded" in review.unseen:
        return [unknown(f"no permission to read the quotas: {review.unseen['exceeded']}")]
    if not review.exceeded:
        return [passed(f"the quotas of {review.where} have room for the request")]
    return [failed(f"the request needs {message}", subject=message) for message in review.exceeded]
