"""This login lacks a permission that the run will need.

Why: a job that this login can submit but not list, read or stop cannot be monitored, and another
account must end it.
Fix: ask for the verb in that namespace; the Role in templates/kubernetes/babysitter.yaml has every
right that herorun needs.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import RequestReview
from herorun.core.finding import Verdict, failed, not_applicable, passed


@check(Gate.LAUNCH, Response.BLOCK)
def missing_permission(review: RequestReview) -> list[Verdict]:
    """One verdict for each verb that the run needs, now or later."""
    if "forbidden" in review.inapplicable:
        return [not_applicable(f"{review.where} has no rights to grant")]
    if not review.forbidden:
        return [passed(f"this login has the rights in {review.where} that the run needs")]
    return [
        failed(f"this login has no permission to {act} in {review.where}", subject=act)
        for act in review.forbidden
    ]
