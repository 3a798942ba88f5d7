import pytest

from builders import MINUTE, NOON, a_history, an_instance, answer, answers, some_metrics
from herorun.checks.health.lost_metric import Limits, lost_metric
from herorun.core.evidence import Metrics, Nothing, Presence, Unavailable
from herorun.core.finding import Outcome
from wording import mentions


def outcome_of(*presence, limits=None):
    return answer(lost_metric, some_metrics(presence=presence), limits=limits).outcome


@pytest.mark.parametrize(
    ("rows", "longest", "outcome"),
    [
        (49, 1, Outcome.PASS),
        (50, 1, Outcome.FAIL),
        (99, 20, Outcome.PASS),  # it is logged now and then
        (100, 20, Outcome.FAIL),
    ],
)
def test_it_is_lost_after_a_gap_that_it_never_had(rows, longest, outcome):
    assert outcome_of(Presence("lr", rows, longest)) is outcome


def test_one_that_never_appeared_is_distinguished():
    verdicts = answers(
        lost_metric,
        some_metrics(presence=(Presence("lr", 60, seen=False), Presence("loss", 60, 1))),
    )

    assert [v.subject for v in verdicts] == ["lr", "loss"]
    assert mentions(verdicts[0].message, "newest", "60 rows")
    assert mentions(verdicts[1].message, "loss", "60 rows")


def test_each_limit_is_the_contracts():
    assert outcome_of(Presence("lr", 40, 1), limits=Limits(rows=40)) is Outcome.FAIL
    assert outcome_of(Presence("lr", 80, 20), limits=Limits(gaps=4.0)) is Outcome.FAIL


def test_what_an_earlier_instance_reported_is_not_this_ones():
    relaunched_history = a_history(
        instances=(an_instance(), an_instance(2, intended=NOON, started=NOON))
    )
    old = some_metrics(presence=(Presence("lr", 90, 1),), advanced_at=NOON - MINUTE)

    assert answer(lost_metric, relaunched_history, old).outcome is Outcome.NOT_APPLICABLE


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(lost_metric).outcome is Outcome.PASS
    assert answer(lost_metric, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(lost_metric, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN
