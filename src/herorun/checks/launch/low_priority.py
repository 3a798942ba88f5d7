"""Work of a higher priority may preempt the job.

Why: a preempted job loses what it did since its last checkpoint, and gets its machines back only
when the other work is done.
Fix: set `[scheduler] priority_class` to one that no other class is above, or plan for preemptions:
frequent checkpoints, and a budget for relaunches.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import RequestReview
from herorun.core.finding import Verdict, failed, not_applicable, passed, unknown


@check(Gate.LAUNCH, Response.WARN)
def low_priority(review: RequestReview) -> list[Verdict]:
    """Compares the cluster's priority classes, except those of its system components."""
    if "preemptors" in review.inapplicable:
        return [not_applicable(f"{review.where} has no priority classes")]
    if "preemptors" in review.unseen:
        return [
            unknown(f"no permission to read the priority classes: {review.unseen['preemptors']}")
        ]
    if not review.preemptors:
        return [passed(f"no priority class of {review.where} may preempt the job")]
    return [failed(message, subject=message) for message in review.preemptors]
