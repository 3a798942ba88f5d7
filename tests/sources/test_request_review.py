"""What a scheduler says of a request, where it can be asked."""

from typing import Any

from builders import a_contract, a_plan
from herorun.core.evidence import Nothing, RequestReview
from herorun.core.plan import Plan
from herorun.sources.request_review import read_request_review


class Answering:
    def review(self, plan: Plan, slug: str) -> RequestReview:
        return RequestReview(f"the cluster of {slug}")


def test_a_scheduler_that_can_be_asked_is_asked() -> None:
    scheduler: Any = Answering()
    review = read_request_review(scheduler, a_plan(), a_contract())
    assert review == RequestReview("the cluster of tiny")


def test_one_that_cannot_is_not() -> None:
    scheduler: Any = object()
    assert isinstance(read_request_review(scheduler, a_plan(), a_contract()), Nothing)
