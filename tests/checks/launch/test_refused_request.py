from builders import answers
from herorun.checks.launch.refused_request import refused_request
from herorun.core.evidence import Nothing, RequestReview
from herorun.core.finding import Outcome


def outcomes(review):
    return [verdict.outcome for verdict in answers(refused_request, review)]


def test_a_request_without_objections_passes():
    assert outcomes(RequestReview(where="prod")) == [Outcome.PASS]


def test_each_objection_is_an_answer():
    review = RequestReview(where="prod", refused=("too much",), changed=("x was dropped",))

    assert outcomes(review) == [Outcome.FAIL] * 2


def test_a_scheduler_that_cannot_be_asked_is_not_judged():
    assert outcomes({RequestReview: Nothing("cannot be asked")}) == [Outcome.NOT_APPLICABLE]
