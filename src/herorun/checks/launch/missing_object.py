"""The Kubernetes request names a Secret or another object that the cluster does not have.

Why: a pod that needs it never starts, while its job counts as active.
Fix: create it in the namespace, or correct the name in `[scheduler]` or in the pod template.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import RequestReview
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown


@check(Gate.LAUNCH, Response.BLOCK)
def missing_object(review: RequestReview) -> list[Verdict]:
    """One verdict for each object; an object that this login may not read is unknown."""
    if "missing" in review.inapplicable:
        return [not_applicable(f"{review.where} has no objects that a request could name")]
    if "missing" in review.unseen:
        return [
            unknown(f"the objects of the request could not be checked: {review.unseen['missing']}")
        ]
    if not review.missing:
        return [passed(f"{review.where} has all that the request names")]
    return [failed(f"{review.where} has no {name}", subject=name) for name in review.missing]
