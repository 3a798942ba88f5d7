from dataclasses import replace

import pytest

from builders import an_excursion, answer, some_metrics
from herorun.checks.health.instability_precursor import Limits, instability_precursor
from herorun.core.check import Severity
from herorun.core.finding import Outcome
from wording import mentions


def verdict(kind, rows, limits=None, **changes):
    early = replace(an_excursion(rows), kind=kind, **changes)
    return answer(instability_precursor, some_metrics(excursions=(early,)), limits=limits)


@pytest.mark.parametrize(
    ("kind", "rows", "outcome"),
    [
        ("growth", 25, Outcome.FAIL),
        ("growth", 24, Outcome.PASS),
        ("explosion", 1, Outcome.FAIL),
        ("creep", 900, Outcome.PASS),
    ],
)
def test_it_tells_growth_and_leaps(kind, rows, outcome):
    assert verdict(kind, rows).outcome is outcome


def test_it_raises_no_alert():
    assert instability_precursor.severity is Severity.INFO


def test_it_says_from_what_to_what():
    assert mentions(
        verdict("growth", 25, metric="max_attention_logit").message,
        "max_attention_logit",
        "2 to",
        "3.2",
        "slowing",
        "still",
    )
    assert mentions(
        verdict("explosion", 2, metric="grad_norm", peak=12.0).message,
        "grad_norm",
        "12 times",
        "average",
        "of 2",
        "2 steps",
    )


def test_the_limits_are_the_contracts():
    assert verdict("growth", 25, Limits(rows=50)).outcome is Outcome.PASS
    assert verdict("growth", 25, declared=True).outcome is Outcome.PASS


def test_a_norm_that_leaps_by_nature_is_left_alone():
    assert verdict("explosion", 1, peak=12.0, noise=1.0).outcome is Outcome.PASS
