from builders import answers
from herorun.checks.launch.missing_object import missing_object
from herorun.core.evidence import Nothing, RequestReview
from herorun.core.finding import Outcome


def outcomes(review):
    return [verdict.outcome for verdict in answers(missing_object, review)]


def test_a_request_without_objections_passes():
    assert outcomes(RequestReview(where="prod")) == [Outcome.PASS]


def test_each_objection_is_an_answer():
    review = RequestReview(where="prod", missing=("secret tokens",))

    assert outcomes(review) == [Outcome.FAIL] * 1


def test_a_scheduler_that_cannot_be_asked_is_not_judged():
    assert outcomes({RequestReview: Nothing("cannot be asked")}) == [Outcome.NOT_APPLICABLE]


def test_what_may_not_be_looked_at_does_not_pass():
    review = RequestReview(where="prod", unseen={"missing": "forbidden"})

    assert outcomes(review) == [Outcome.UNKNOWN]


def test_a_back_end_that_has_no_such_thing_is_not_praised_for_it():
    review = RequestReview(where="box", inapplicable=("missing",))

    assert outcomes(review) == [Outcome.NOT_APPLICABLE]
