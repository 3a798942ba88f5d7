"""No machine of the cluster could take the job.

Why: a label or a size that no machine has is usually a mistake: the job never starts, unless
machines are added on demand.
Fix: correct `[scheduler] node_selector` and `resources`, or wait for a machine that fits.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import RequestReview
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown


@check(Gate.LAUNCH, Response.WARN)
def no_fitting_node(review: RequestReview) -> list[Verdict]:
    """By the labels and the total size of each machine, even if other work occupies it."""
    if "unplaceable" in review.inapplicable:
        return [not_applicable(f"{review.where} has no choice of machines")]
    if "unplaceable" in review.unseen:
        return [unknown(f"no permission to list the nodes: {review.unseen['unplaceable']}")]
    if not review.unplaceable:
        return [passed(f"{review.where} has a machine that is large enough")]
    return [failed(message, subject=message) for message in review.unplaceable]
