from builders import answers
from herorun.checks.launch.low_priority import low_priority
from herorun.core.evidence import Nothing, RequestReview
from herorun.core.finding import Outcome


def outcomes(review):
    return [verdict.outcome for verdict in answers(low_priority, review)]


def test_a_job_that_nobody_may_preempt_passes():
    assert outcomes(RequestReview(where="prod")) == [Outcome.PASS]


def test_each_class_that_may_preempt_it_is_an_answer():
    review = RequestReview(
        where="prod",
        preemptors=("pods of the priority class prod (1000) may preempt this job", "x may"),
    )

    assert outcomes(review) == [Outcome.FAIL] * 2


def test_a_scheduler_that_cannot_be_asked_is_not_judged():
    assert outcomes({RequestReview: Nothing("no answer")}) == [Outcome.NOT_APPLICABLE]


def test_what_may_not_be_looked_at_does_not_pass():
    review = RequestReview(where="prod", unseen={"preemptors": "forbidden"})

    assert outcomes(review) == [Outcome.UNKNOWN]


def test_a_back_end_that_has_no_such_thing_is_not_praised_for_it():
    review = RequestReview(where="box", inapplicable=("preemptors",))

    assert outcomes(review) == [Outcome.NOT_APPLICABLE]
