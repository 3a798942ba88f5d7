"""The scheduler's review of the request before it is submitted, if it offers one."""

from herorun.core.contract import Contract
from herorun.core.evidence import Nothing, RequestReview
from herorun.core.plan import Plan
from herorun.core.ports import Scheduler


def read_request_review(
    scheduler: Scheduler, plan: Plan, contract: Contract
) -> RequestReview | Nothing:
    """The review; Nothing if the adapter has no `review(plan, slug)`."""
    review = getattr(scheduler, "review", None)
    if review is None:
        return Nothing("this scheduler cannot be asked before a submission")
    answer: RequestReview = review(plan, contract.slug)
    return answer
