"""The scheduler's review of the request before it is submitted, if it can be asked."""

from herorun.core.contract import Contract
from herorun.core.evidence import Nothing, RequestReview
from herorun.core.plan import Plan
from herorun.core.ports import Scheduler


def read_request_review(
    scheduler: Scheduler, plan: Plan, contract: Contract
) -> RequestReview | Nothing:
    """A scheduler that can be asked has `review(plan, slug)`."""
    review = getattr(scheduler, "review", None)
    if review is None:
        return Nothing("this scheduler cannot be asked before a submission")
    answer: RequestReview = review(plan, contract.slug)
    return answer
