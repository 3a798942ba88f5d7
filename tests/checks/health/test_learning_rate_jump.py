from dataclasses import replace

import pytest

from builders import answer, some_metrics
from herorun.checks.health.learning_rate_jump import Limits, learning_rate_jump
from herorun.core.evidence import Metrics, Nothing, Resume, Unavailable
from herorun.core.finding import Outcome


def resumed_metrics(before, after, exact=True):
    return some_metrics(
        resume=Resume(
            step=50, high_water=60, rate_before=before, rate_after=after, rate_exact=exact
        )
    )


@pytest.mark.parametrize(
    ("before", "after", "exact", "outcome"),
    [
        (1e-4, 1e-4, True, Outcome.PASS),
        (1e-4, 1.009e-4, True, Outcome.PASS),
        (1e-4, 1.011e-4, True, Outcome.FAIL),
        (1e-4, 0.98e-4, True, Outcome.FAIL),
        (1e-4, 1.19e-4, False, Outcome.PASS),
        (1e-4, 1.21e-4, False, Outcome.FAIL),
        (0.0, 0.0, True, Outcome.PASS),
        (0.0, 1e-4, True, Outcome.FAIL),
        (None, 1e-4, False, Outcome.UNKNOWN),
        (1e-4, None, True, Outcome.NOT_APPLICABLE),
    ],
)
def test_it_continues_where_it_was(before, after, exact, outcome):
    assert answer(learning_rate_jump, resumed_metrics(before, after, exact)).outcome is outcome


def test_the_step_is_named_as_logged_and_as_in_the_subject():
    verdict = answer(learning_rate_jump, replace(resumed_metrics(1e-4, 2e-4), first_logged=0))

    assert "50" in verdict.subject and "49 (update 50)" in verdict.message


def test_each_limit_is_the_contracts():
    assert (
        answer(
            learning_rate_jump, resumed_metrics(1.0, 1.1), limits=Limits(same_step_change=0.2)
        ).outcome
        is Outcome.PASS
    )
    assert (
        answer(
            learning_rate_jump,
            resumed_metrics(1.0, 1.3, False),
            limits=Limits(near_step_change=0.4),
        ).outcome
        is Outcome.PASS
    )


def test_no_rows_are_not_applicable_and_unread_ones_unknown():
    assert answer(learning_rate_jump).outcome is Outcome.NOT_APPLICABLE
    assert answer(learning_rate_jump, {Metrics: Nothing()}).outcome is Outcome.NOT_APPLICABLE
    assert answer(learning_rate_jump, {Metrics: Unavailable("503")}).outcome is Outcome.UNKNOWN
